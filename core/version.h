// The version of Banyan, as `banyan --version`, logs, status and pkg-config say it.
#ifndef BANYAN_CORE_VERSION_H_
#define BANYAN_CORE_VERSION_H_

namespace banyan {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace banyan

#endif  // BANYAN_CORE_VERSION_H_
