// Reads the section of an overlay that says how tensors are compressed.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_COMPRESSION_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_COMPRESSION_H_

#include <string>

#include "proto/compression/compression_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// One rule for all tensors, {codec: topk, controller: netsense, ...}, or {rules: [{keys: "*.weight", codec: topk,
// ...}]}.
CompressionConfig ReadCompression(const YamlValue& value, YamlProblems& problems);

// The section, one line that ReadCompression reads back; empty where it would say what no section says.
std::string CompressionText(const CompressionConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_COMPRESSION_H_
