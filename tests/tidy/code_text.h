// What the checks need to know of C++ text: its includes, and its words outside of comments and literals. Pure
// functions.
#ifndef BANYAN_TESTS_TIDY_CODE_TEXT_H_
#define BANYAN_TESTS_TIDY_CODE_TEXT_H_

#include <string>
#include <vector>

namespace banyan {

// The same text with comments and the insides of string and character literals turned into spaces; ends of lines stay,
// so that lines keep their numbers.
std::string BlankCommentsAndLiterals(const std::string& text);

struct Include {
  int line = 0;         // from 1
  std::string name;     // what stands between the marks
  bool quoted = false;  // "name" rather than <name>
};

std::vector<Include> Includes(const std::string& text);

struct Word {
  int line = 0;      // from 1
  std::string text;  // a name with its qualifiers, such as std::thread
};

// The names in `text`, comments and literals left out.
std::vector<Word> Words(const std::string& text);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_CODE_TEXT_H_
