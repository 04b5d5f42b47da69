#!/usr/bin/python3
"""Holds the repository to its own rules, and each rule to samples of what it must find.

Without arguments it does both; with --self-test the latter alone. Each breach is one line on stdout, "path:line: what
is wrong and what to do", and the exit code is 1 where there is one.

A rule takes the files that people write, as {path from the root: text}, and yields breaches as (path, line, message).
"""
import collections
import functools
import os
import re
import sys

# For a folder ("" is the root) those inside of it, from the ground up. Each may depend on what stands in its own string
# and in those before it.
FLOORS = {
    "": ["third_party", "core", "proto", "protocol posix", "topology awareness compression precision access tracing",
         "node scheduler", "runtime sim", "wan", "tools examples bench tests python", "fuzz"],
    "proto": ["compression precision tracing", "transcript"],
    "topology": ["overlay samples inference evaluation", "planners", "packing", "fit advice"],
    "compression": ["kernels control", "codecs trimmable counts", "cuda"],
    "node": ["link trim", "votes peers", "rounds state", "replicas workers", "transcript"],
    "scheduler": ["state", "members", "rounds", "policy precision", "epochs transfer replay"],
    "runtime": ["transport http records", "metrics etcd workers", "session", "local_updates c_api"],
    "sim": ["network training", "processes", "leadership checkers", "faults runs reducer", "figures", "studies"],
    "tools": ["daemon flags reports supervision terminal",
              "chaos demo doctor keygen metrics page precision_benchmark trace"
              " accuracy_benchmark packet_benchmark wan_benchmark", "view"],
}
FLOOR_OF = {f"{house}/{name}".lstrip("/"): floor
            for house, floors in FLOORS.items() for floor, names in enumerate(floors) for name in names.split()}

# Protocols and algorithms: what they know of the world reaches them as events. Their tests may do more.
PURE_FOLDERS = "core proto protocol topology awareness compression precision node scheduler tracing".split()
# Threads and locks; clocks; the operating system; libraries that do any of this; what differs from run to run or by
# compiler. A name that ends in "/" is a folder of headers.
IMPURE_HEADERS = """
    thread mutex shared_mutex condition_variable future semaphore latch barrier stop_token execution pthread.h
    semaphore.h sched.h threads.h omp.h absl/base/call_once.h boost/thread/ boost/asio/ boost/interprocess/
    chrono ctime time.h sys/time.h sys/timerfd.h absl/time/clock.h
    unistd.h poll.h netdb.h signal.h csignal fcntl.h dlfcn.h sys/ netinet/ arpa/ net/ linux/
    zmq.h zmq.hpp zmq_addon.hpp torch/ ATen/ gloo/
    random unordered_map unordered_set absl/random/ absl/container/flat_hash_map.h absl/container/flat_hash_set.h
    absl/container/node_hash_map.h absl/container/node_hash_set.h""".split()
# The same as they stand in the code, for what comes in through another header.
IMPURE_NAMES = """
    std::thread std::jthread std::this_thread std::async std::promise std::future std::mutex std::recursive_mutex
    std::shared_mutex std::timed_mutex std::lock_guard std::unique_lock std::scoped_lock std::shared_lock
    std::condition_variable std::call_once thread_local absl::Mutex absl::MutexLock absl::CondVar absl::Notification
    pthread_create pthread_mutex_lock std::chrono absl::Now absl::GetCurrentTimeNanos absl::SleepFor std::time
    std::clock clock_gettime gettimeofday nanosleep usleep steady_clock system_clock getenv secure_getenv setenv putenv
    environ fork setsockopt epoll_wait recvmsg sendmsg zmq random_device mt19937 mt19937_64 srand
    std::unordered_map std::unordered_set absl::flat_hash_map absl::flat_hash_set""".split()
IMPURE_LIBRARIES = "zmq torch gloo".split()

# Flags of other programs that pages and errors name without them, and lines that are about another program.
FOREIGN_FLAGS = "allow-run-as-root auto-compaction-retention bind-to device hostfile map-by mca".split()
FOREIGN_LINE = re.compile(r"\b(git|bazel|bazel-bin|g\+\+|pkg-config|etcd|tar|mpirun|systemctl|ip|apt-get|perf) ")
# Commands of the script ./banyan, and a flag that it adds to one of the program.
SCRIPT_COMMANDS = "build dist docs figures fuzz install package test try wheel".split()
SCRIPT_FLAGS = {"build": ["config"], "demo": ["torch"], "figures": ["quick", "only", "list"], "fuzz": ["seconds"]}

# What counts as the documents, with how many words: those with a letter or a digit. docs/reference/ is made of code.
COUNTED = re.compile(r"README\.md|deploy/README\.md|docs/[A-Za-z_]+\.md")
MOST_WORDS, MOST_README_WORDS = 14000, 700
# Documents for those who change Banyan may use its private words.
FOR_USERS = re.compile(r"(README|CONTRIBUTING|SECURITY|deploy/README|docs/(?!architecture|protocol)[a-z_]+)\.md")
# Words of which a reader cannot know what they stand for here, and what to write. Not in code.
PRIVATE_WORDS = {
    r"whoever|somebody|anybody|everybody|nobody": "say which node, process or person",
    r"(?<=[.:] )Who |^Who ": "name the subject",
    r"\bdesks?\b|\babstains?\b": "a word of the code; say what it does",
    r"\bcuts?\b|\bcutting\b": "trim, block, shard or bucket",
    r"\bbeliefs?\b|\bbelieved\b": "prior estimate",
    r"\b(is|are|was|were|been|being) told\b": "configured, or say by what message",
    r"\bdraws?\b|\bdrawn\b": "sample, or at random",
    r"\bways\b": "paths",
    r"\bhalves\b": "half-precision types, or reduce and broadcast tree",
    r"\bmakers?\b": "factory",
    r"\bin kind\b": "reproduction",
    r"\bin the mean\b": "on average",
    r"\bits kin\b": "name them",
    r"\bthe job's page\b|\bthe live page\b": "dashboard",
    r"\bthe field it knows\b|\btells of\b|\bsays of\b": "describes, reports or lists",
}
# The same in what programs print, but for those that only developers run.
PRIVATE_TEXTS = (r"whoever|somebody|anybody|everybody|nobody|says nothing without|is there twice|in the mean\b|on a safe way"
                 r"|\b(is|are|was|were|been) told\b|\babstain|\bdrawn\b|the job's page")
FOR_DEVELOPERS = ("tests/", "fuzz/", "bench/", "sim/", "proto/testing/")
LEAST_TROUBLES = 40

CPP = (".h", ".cc", ".cu", ".cuh")
WRITTEN = CPP + ("BUILD", "WORKSPACE", "LICENSE", "banyan", ".proto", ".bzl", ".sh", ".yaml", ".ts", ".md", ".service",
                 ".py", ".svg", ".png")
ENDINGS = "yaml md h cc proto py service conf json csv log".split()  # what follows a dot and makes no key of it
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*[<"]?([^>"\n]*).*', re.MULTILINE)
COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|(?<=R)"([^\s()\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<!\w)'(?:\\.|[^'\\\n])*'", re.DOTALL)


@functools.lru_cache(maxsize=None)
def code_and_literals(text):
    """Splits C++ into its code without comments, literals and #includes, and its literals; lines keep their numbers."""
    at, code, literals = 0, [], []
    for match in COMMENT_OR_LITERAL.finditer(text):
        gap, found = text[at:match.start()], match[0]
        code += [gap, " ", "\n" * found.count("\n")]
        literals += ["\n" * gap.count("\n"), " ", found if found[0] == '"' else "\n" * found.count("\n")]
        at = match.end()
    return INCLUDE.sub("", "".join(code + [text[at:]])), "".join(literals)


def cpp(files):
    return [(path, text) for path, text in files.items() if path.endswith(CPP)]


def line_at(text, place):
    return text.count("\n", 0, place) + 1


def includes(text):
    return [(line_at(text, match.start(1)), match[1]) for match in INCLUDE.finditer(text)]


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path


def folders_of(path):
    """Returns the folders around a file, the outermost first: a/b/c.h is in a and in a/b."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth + 1]) for depth in range(len(parts))]


def circles(arrows):
    """Yields circles in {name: names that it points at}, each with its first name at the end again. Where there are
    circles it yields at least one."""
    visited, way = set(), []

    def visit(name):
        if name in way:
            yield way[way.index(name):] + [name]
        if name in visited:
            return
        visited.add(name)
        way.append(name)
        for target in sorted(arrows.get(name, ())):
            yield from visit(target)
        way.pop()

    for name in sorted(arrows):
        yield from visit(name)


def layers(files):
    """Includes, and labels between folders at the root, point down; no folders of one floor depend on each other in a
    circle; code lies in a folder with a floor. A reference counts where the two paths part. What lies flat in a folder
    may stand above or below its subfolders, and tests may look up inside of a folder of the root."""
    references = collections.defaultdict(list)  # by the two folders

    def collect(path, line, target, name):
        pair = next(((here, there) for here, there in zip(folders_of(path), folders_of(target)) if here != there), None)
        if pair and (not (is_test(path) or is_test(target)) if "/" in pair[0] else FLOOR_OF.keys() >= set(pair)):
            references[pair].append((path, line, f"{pair[0]}/ may not depend on {pair[1]}/ ({name})"))

    for path, text in cpp(files):
        if "/" not in path:
            yield path, 1, "lies in no folder: move it to one that FLOORS in tests/tidy/check.py names"
        for folder in folders_of(path):
            if os.path.dirname(folder) in FLOORS and folder not in FLOOR_OF and not folder.endswith("/testing"):
                yield path, 1, f"lies in {folder}/, which has no floor: add it to FLOORS in tests/tidy/check.py"
        for line, name in includes(text):
            collect(path, line, name, name)
    for path, text in files.items():
        for match in re.finditer(r'"//([a-z_]+)([^"\n]*)"', text if os.path.basename(path) == "BUILD" else ""):
            # Who may look is no dependency. Labels inside of a folder stand for tests and programs alike, so only the
            # folder at the root counts.
            if not match[2].endswith((":__pkg__", ":__subpackages__")):
                collect(path, line_at(text, match.start()), match[1] + "/", match[0])

    level = collections.defaultdict(set)
    for (here, there), places in references.items():
        if FLOOR_OF.get(there, 0) == FLOOR_OF.get(here, 0):
            level[here].add(there)
        for path, line, refusal in places if FLOOR_OF.get(there, 0) > FLOOR_OF.get(here, 0) else ():
            yield path, line, refusal + ": it lies above; move what both need down"
    for circle in circles(level):
        for pair in zip(circle, circle[1:]):  # which of these is wrong, nobody can tell here
            for path, line, refusal in references[pair]:
                yield path, line, f"{refusal}: they form the circle {' -> '.join(circle)}; turn one arrow round"


def file_circles(files):
    """No files include each other in a circle. A header and the sources of its name are one file."""
    arrows = {os.path.splitext(path)[0]: {} for path, _ in cpp(files)}
    for path, text in cpp(files):
        here = os.path.splitext(path)[0]
        for line, name in includes(text):
            there = os.path.splitext(name)[0]
            if there != here and there in arrows:
                arrows[here].setdefault(there, (path, line))
    for circle in circles(arrows):
        yield *arrows[circle[0]][circle[1]], ("includes what includes it: " + " -> ".join(circle) +
                                              "; move what both need to a file of its own")


def purity(files):
    """Code of PURE_FOLDERS reaches no socket, thread, lock, clock, environment, foreign randomness or container without
    order, and links no library for it. Nobody uses Abseil's locks: Debian's Abseil is built without ThreadSanitizer,
    which sees no order in what such a lock guards."""
    names = re.compile(r"(?<!\w)(?:" + "|".join(IMPURE_NAMES) + r")(?!\w)")
    libraries = re.compile(r'"@system//:(?:' + "|".join(IMPURE_LIBRARIES) + ')"')
    for path, text in files.items():
        is_pure = path.split("/")[0] in PURE_FOLDERS and not path.endswith("_test.cc")
        advice = f", and {path.split('/')[0]}/ is pure: let a driver in runtime/ or sim/ do it"
        for line, name in includes(text) if path.endswith(CPP) else ():
            if name.startswith("absl/synchronization/"):
                yield path, line, f"includes {name}, which ThreadSanitizer cannot see: use std::mutex"
            elif is_pure and any(name.startswith(header) if header[-1] == "/" else name == header
                                 for header in IMPURE_HEADERS):
                yield path, line, f"includes {name}{advice}"
        if is_pure and path.endswith(CPP):
            code = code_and_literals(text)[0]
            for match in names.finditer(code):
                yield path, line_at(code, match.start()), f"uses {match[0]}{advice}"
        elif is_pure and os.path.basename(path) == "BUILD":
            for match in libraries.finditer(text):
                yield path, line_at(text, match.start()), f"links {match[0]}{advice}"


def type_names(files):
    """A type of namespace banyan has a name of its own in the whole tree. Types in tests, anonymous namespaces, classes
    and functions are free, and so are declarations."""
    token = re.compile(r"\bnamespace\s*(?P<space>[\w:]*)\s*\{|\b(?:class|struct|union|enum(?:\s+class)?)"
                       r"(?:\s*\[\[[^\]]*\]\]|\s+alignas\([^)]*\))*\s+(?P<type>\w+)\s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{"
                       r"|\busing\s+(?P<alias>\w+)\s*=|[{}]")
    preprocessor = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
    places = {}
    for path, text in cpp(files):
        if path.endswith("_test.cc"):
            continue
        code = preprocessor.sub(lambda match: "\n" * match[0].count("\n"), code_and_literals(text)[0])
        scopes = []  # of what is open: a namespace's name, or None for other braces
        for match in token.finditer(code):
            if (match["type"] or match["alias"]) and all(scopes) and scopes[:1] == ["banyan"]:
                name, line = "::".join(scopes + [match["type"] or match["alias"]]), line_at(code, match.start())
                if name in places:
                    yield path, line, f"defines {name}, which {places[name]} does already: rename one of them"
                places.setdefault(name, f"{path}:{line}")
            if match[0][-1] == "{":
                scopes.append(match["space"] or None)
            elif match[0] == "}":
                scopes = scopes[:-1]


def declared_words(files):
    """Returns the flags that command lines and programs in Python declare, {command: its flags}, the commands, and the
    keys of overlay.yaml by its page, which a test holds against the parser."""
    command_line = re.compile(r'"banyan ([a-z][a-z-]*)( [a-z][a-z-]*)?",')
    flag = re.compile(r"(?:Switch|Text|Choice|Integer|Number|Custom|Repeated|Time|Megabytes|Rate|Add[A-Z][A-Za-z]*)"
                      r'\(\s*"([a-z][a-z0-9-]*)"')
    flags, shared = set(), {"describe", "help", "manual", "version"}  # shared are those of files that several commands use
    flags_of = collections.defaultdict(set, {name: set(own) for name, own in SCRIPT_FLAGS.items()})
    commands, keys = {"help", "version", *SCRIPT_COMMANDS}, set()
    for path, text in files.items():
        if path.startswith(("tools/", "examples/", "bench/")) and path.endswith(CPP) and not is_test(path):
            # "wan up" is a command, and so is "wan".
            own = {word for first, rest in command_line.findall(text) for word in (first, first + rest)}
            commands |= own
            for name in own:
                flags_of[name].update(flag.findall(text))
            (flags if own else shared).update(flag.findall(text))
        elif path.endswith(".py"):
            flags.update(re.findall(r'add_argument\("--([a-z][a-z0-9-]*)"', text))
        elif path == "docs/reference/overlay.md":
            for key in re.findall(r"^\| `([a-z_]+\.[a-z_.]+)`", text, re.MULTILINE):
                names = key.split(".")  # a key with keys below it is one, too
                keys |= {".".join(names[:count]) for count in range(2, len(names) + 1)}
    commands.update(re.findall(r'\{"([a-z][a-z-]*)", "', files.get("tools/all_commands.cc", "")))
    flags = flags.union(shared, *flags_of.values())
    return flags, {name: own | shared for name, own in flags_of.items()}, commands, keys


def advice(files):
    """Flags, commands and keys exist that the literals of code name and pages show as code; a flag after `banyan
    COMMAND` is one of its own. Tests are free, and a line with another program is about that one."""
    flags, flags_of, commands, keys = declared_words(files)
    sections = {key.split(".")[0] for key in keys}
    shown = re.compile(r"(.*?)(`[^`\n]+`|\n    [^\n]+|\n\./[^\n]+|\Z)", re.DOTALL)
    command = re.compile(r"banyan ([a-z][a-z-]*)( [a-z][a-z-]*)?")
    key = re.compile(r"""(?:^|(?<=[\s"'`(]))([a-z_]+)\.([a-z_]+(?:\.[a-z_]+)?)(?=[\s"'`,;:)]|$)""")

    def named(path, number, line):
        for match in re.finditer(r"""(?:^|[\s"'`(\[])--([a-z][a-z0-9-]*)""", "" if FOREIGN_LINE.search(line) else line):
            own = None  # the command that the line names before the flag
            for found in command.finditer(line, 0, match.start()):
                own = found[0][7:] if found[0][7:] in commands else found[1]
            if match[1] not in flags_of.get(own, flags) and match[1] not in FOREIGN_FLAGS:
                whose = f"not banyan {own}" if own in flags_of else "no command"
                yield path, number, f"names the flag --{match[1]}, which {whose} declares: see its --help"
        for match in re.finditer(r"(?:`|\./)banyan ([a-z][a-z-]*)", line):
            if match[1] not in commands:
                yield path, number, f"names banyan {match[1]}, which is no command: see banyan --help"
        for match in key.finditer(line):
            if match[1] in sections and match[2] not in ENDINGS and match[0] not in keys:
                yield path, number, f"names {match[0]}, which is no key of overlay.yaml: see docs/reference/overlay.md"

    for path, text in files.items():
        kept = ""
        if path.endswith(".md"):
            kept = shown.sub(lambda match: "\n" * match[1].count("\n") + " " + match[2], text)
        elif path.endswith(CPP) and not is_test(path):
            kept = code_and_literals(text)[1]
        for number, line in enumerate(kept.split("\n"), 1):
            yield from named(path, number, line)


def named_files(files):
    """Files of the repository that pages show as code and comments of C++ name are there; x_ stands for any name."""
    file_name = re.compile(r"(?<![\w/.~-])(?:(\w+)/)?(?:[\w-]+/)*(?!x_)[a-z][\w-]*\.(?:cc|h|cuh?|proto|md)\b(?![/.]\w)")
    roots = {path.split("/")[0] for path in files if "/" in path}
    names = {os.path.basename(path) for path in files}
    for path, text in files.items():
        place = "`[^`\n]+`" if path.endswith(".md") else "//[^\n]*" if path.endswith(CPP) else r"(?!)"
        for match in re.finditer(place, text):
            for name in file_name.finditer(match[0]):
                if name[0] not in files if name[1] in roots else not name[1] and name[0] not in names:
                    yield path, line_at(text, match.start()), f"names {name[0]}, which is not there: name what is"


def form(files):
    """A header starts with a comment and has the guard of its path, which no other header shares. Nobody marks work as
    unfinished."""
    mark = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
    for path, text in files.items():
        if path.endswith((".h", ".cuh")):
            guard = "BANYAN_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"
            if not text.startswith("// "):
                yield path, 1, "starts with no comment: say what the class is, its thread-safety, and who owns it"
            if f"#ifndef {guard}\n#define {guard}\n" not in text or not text.endswith(f"#endif  // {guard}\n"):
                yield path, 1, f"lacks the header guard {guard}: open and close the file with it"
        for match in mark.finditer(text):
            yield path, line_at(text, match.start()), f"has the mark {match[0]} of unfinished work: finish it"


def prose(text):
    """Returns a document without its code; lines keep their numbers."""
    code = re.compile(r"^ *```.*?^ *```|^    [^\n]*|`[^`]*`", re.DOTALL | re.MULTILINE)
    return code.sub(lambda match: "\n" * match[0].count("\n"), text)


def links(files):
    """What a document links to is there: the file or folder, and the heading."""
    link = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
    folders = {folder for path in files for folder in folders_of(path)}
    anchors = {path: {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
                      for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
               for path, text in files.items() if path.endswith(".md")}
    for path, text in files.items():
        for match in link.finditer(prose(text) if path.endswith(".md") else ""):
            target = os.path.normpath(os.path.join(os.path.dirname(path), match[1])) if match[1] else path
            if target not in files and target not in folders:
                yield path, line_at(text, match.start()), f"links to {target}, which is not there: link what is"
            elif match[2] and match[2] not in anchors.get(target, ()):
                yield path, 1, f"links to #{match[2]}, which is no heading of {target}: link one that is"


def plain_words(files):
    """Documents for users, and what the command prints, have no private words."""
    for path, text in files.items():
        for pattern, better in PRIVATE_WORDS.items() if FOR_USERS.fullmatch(path) else ():
            for match in re.finditer(pattern, prose(text), re.MULTILINE):
                yield path, prose(text).count("\n", 0, match.start()) + 1, f"says '{match[0].strip()}': {better}"
        if path.endswith(CPP) and not is_test(path) and not path.startswith(FOR_DEVELOPERS):
            literals = code_and_literals(text)[1]
            for match in re.finditer(PRIVATE_TEXTS, literals):
                yield path, line_at(literals, match.start()), f"prints '{match[0]}': name the subject, in plain words"


def word_budget(files):
    """The documents stay as short as they are meant to be."""
    words = {path: sum(bool(re.search(r"\w", word)) for word in text.split())
             for path, text in files.items() if COUNTED.fullmatch(path)}
    for path, count, most in [("README.md", words.get("README.md", 0), MOST_README_WORDS),
                              ("docs/README.md", sum(words.values()), MOST_WORDS)]:
        if count > most:
            yield path, 1, f"{'with all documents ' if path[0] == 'd' else ''}has {count} words, {most} at most: cut it"


def printed_texts(files):
    """Returns the literals of the programs and of the Python package, those that follow one another as one."""
    texts = []
    for path, text in files.items():
        if path.endswith(CPP) and not is_test(path) and not path.startswith(("tests/", "fuzz/", "bench/")):
            kept = COMMENT_OR_LITERAL.sub(lambda match: match[0] if match[0][0] == '"' else " ", INCLUDE.sub("", text))
            texts += re.findall(r'"((?:\\.|[^"\\\n])*)"', re.sub(r'"\s*"', "", kept))
        elif path.startswith("python/banyan/"):
            texts.append(re.sub(r'"\s*\n\s*f?"', "", text))
    return "\n".join(texts)


def troubleshooting(files):
    """The messages of docs/troubleshooting.md are in the code, and many."""
    path = "docs/troubleshooting.md"
    rows = [(match[1], line_at(files[path], match.start()))
            for match in re.finditer(r"^\| `([^`\n]+)` \|", files.get(path, ""), re.MULTILINE)]
    texts = printed_texts(files) if rows else ""
    for message, line in rows:
        if message not in texts:
            yield path, line, f"has '{message}', which no program prints: take it from the code"
    if path in files and len(rows) < LEAST_TROUBLES:
        yield path, 1, f"has {len(rows)} messages, expected {LEAST_TROUBLES} at least"


def command_list(files):
    """docs/reference/commands.md lists the commands as the help of banyan does."""
    path = "docs/reference/commands.md"
    listed = set(re.findall(r"^\| `banyan ([a-z-]+)` \| ([^|]*[^| ]) *\|", files.get(path, ""), re.MULTILINE))
    for name, what in re.findall(r'\{"([a-z][a-z-]*)",\s*"([^"]*)"', files.get("tools/all_commands.cc", "")):
        if path in files and (name, what) not in listed:
            yield path, 1, f"lacks the row | `banyan {name}` | {what} |"


def in_banyan(text):
    return "namespace banyan {\n" + text + "\n}  // namespace banyan\n"


PROGRAM = {
    "tools/all_commands.cc": '{{"node", "runs", F}, {"status", "shows", G}, {"demo", "x", H}}',
    "tools/node_command.cc": 'CommandLine line("banyan node", "x"); line.Text("name", "N", "h", &f.name);',
    "tools/status_command.cc": 'CommandLine line("banyan status", "x"); line.Switch("watch", "h", &f.w);',
    "tools/wan_command.cc": 'CommandLine line("banyan wan up", "x");',
    "examples/train.py": 'parser.add_argument("--rate", type=float)',
    "docs/reference/overlay.md": "\n| `nodes.workers` | count |\n| `links.a.b` | |\n",
}
# A rule, files, and how the breaches that it finds there begin.
SAMPLES = [
    (layers, {"node/a.cc": '#include "core/ids.h"\n#include "topology/plan.h"\n#include <map>', "README.md": "",
              "tools/BUILD": 'deps = ["//runtime:x", "//deploy:a.yaml"]', "deploy/BUILD": '"//tools:banyan"'}, []),
    (layers, {"core/a.h": '\n#include "node/b.h"'},
     ["core/a.h:2: core/ may not depend on node/ (node/b.h): it lies above"]),
    (layers, {"node/a_test.cc": '#include "sim/b.h"'}, ["node/a_test.cc:1: node/ may not"]),
    (layers, {"core/BUILD": '"//sim:__pkg__",\n"//core:x", "//node/a:b"'}, ["core/BUILD:2: core/ may not"]),
    (layers, {"node/link/a.h": '#include "node/peers/b.h"'}, ["node/link/a.h:1: node/link/ may not"]),
    (layers, {"node/peers/a.h": '#include "node/link/b.h"', "node/link/a_test.cc": '#include "node/peers/b.h"',
              "node/link/b.h": '#include "node/c.h"', "node/testing/a.h": '#include "node/peers/b.h"'}, []),
    (layers, {"node/a.h": '#include "scheduler/b.h"'}, []),
    (layers, {"node/a.h": '#include "scheduler/b.h"', "scheduler/a.h": '#include "node/b.h"'},
     ["node/a.h:1: node/ may not depend on scheduler/ (scheduler/b.h): they form the circle node -> scheduler -> node",
      "scheduler/a.h:1: scheduler/ may not"]),
    (layers, {"examples/x/a/b.h": '#include "examples/x/c/d.h"', "examples/x/c/d.h": '#include "examples/x/a/e.h"'},
     ["examples/x/a/b.h:1: examples/x/a/ may not", "examples/x/c/d.h:1: "]),
    (layers, {"a.cc": "", "other/a.h": "", "node/other/a.h": "", "examples/x/a.h": ""},
     ["a.cc:1: lies in no folder", "node/other/a.h:1: lies in node/other/, ", "other/a.h:1: lies in other/, "]),
    *[(file_circles, {"a/a.h": "", "a/a.cc": '#include "a/a.h"\n#include "a/b.h"', "a/b.h": '#include "a/c.h"',
                      "a/c.h": text}, found)
      for text, found in (("", []), ('#include "a/a.h"', ["a/a.cc:2: includes what includes it: a/a -> a/b -> a/c"]))],
    *[(purity, {f"{folder}/x/a.h": bad, f"{folder}/a_test.cc": bad, "runtime/a.cc": bad}, [f"{folder}/x/a.h:2: "])
      for folder in PURE_FOLDERS
      for bad in ("\n#include <thread>", '\n#include "zmq.hpp"', "\n  # include <sys/socket.h>", "\nt = absl::Now();",
                  "\n::std::mutex m;", "\nstd::chrono::seconds s;", '\n1\'000 + getenv("A") + 2\'000;')],
    (purity, {"core/a.cc": "// std::thread\n/* fork\n*/ int thread = Now();\n#include <map>\n" +
              "f(\"fork \\\" fork\", '\"', R\"x(fork \" )\" fork)x\"); my_fork();"}, []),
    (purity, {"core/a.cc": "/*\n*/ f(R\"(\n)\"); fork();"}, ["core/a.cc:3: uses fork, and core/ is pure"]),
    (purity, {"sim/a_test.cc": '#include "absl/synchronization/mutex.h"'}, ["sim/a_test.cc:1: includes absl/synch"]),
    (purity, {"node/BUILD": '"@system//:absl", "@system//:zmq"', "sim/BUILD": '"@system//:zmq"'}, ["node/BUILD:1: "]),
    *[(type_names, {"core/a.h": in_banyan("struct A {};"), "core/b.h": in_banyan("\n" + again)},
       ["core/b.h:3: defines banyan::A, which core/a.h:2 does already"])
      for again in ("class A {};", "struct A final : B<C> {", "enum A {", "enum class A : int {", "union A {",
                    "using A = int;", "template <typename T, class U = V<T>> struct A {", "struct [[nodiscard]] A {",
                    "struct alignas(64) A {")],
    *[(type_names, {"core/a.h": in_banyan("struct A {};"), path: free}, [])
      for path, free in (("core/a_test.cc", in_banyan("struct A {};")), ("core/b.h", "struct A {};"),
                         *[("core/b.h", in_banyan(text)) for text in (
                             "struct A;\nenum class A : int;\nstruct A F(A a) { return a; }\nusing b::A;",
                             "namespace {\nstruct A {};\n}", "class B {\n  struct A {};\n};", "struct B::A {};",
                             "void F() {\n  struct A {};\n}", "namespace c {\nstruct A {};\n}", "struct A<int> {};",
                             "#define B \\\nstruct A {};\n// struct A {};")])],
    (advice, {"node/a.cc": '"expected --name; see banyan node --help, nodes.workers, links.a";\n// "--bad"\nx --bad;',
              "docs/a.md": "`./banyan status --watch`, `git log --bad`, `nodes.yaml`, --bad, `./banyan demo --torch`,"
              " `python3 examples/train.py --rate 3`", "node/a_test.cc": '"--bad"', **PROGRAM}, []),
    (advice, {"docs/a.md": "`banyan node --watch`\n\n    ./banyan wan up --rate 3\n./banyan node --torch", **PROGRAM},
     ["docs/a.md:1: names the flag --watch, which not banyan node", "docs/a.md:3: names the flag --rate, which not",
      "docs/a.md:4: names the flag --torch, which not banyan node"]),
    (advice, {"node/a.cc": '\n"start it with --workers"\n"try `banyan repair`, or set nodes.threads"', **PROGRAM},
     ["node/a.cc:2: names the flag --workers, which no command", "node/a.cc:3: names banyan repair, which is no",
      "node/a.cc:3: names nodes.threads, which is no key"]),
    (named_files, {"docs/a.md": "`a.md`, `core/b.h`, `b.h`, `/c.md`, `core/x_c.cc`, c.md", "core/b.h": "// a.md"}, []),
    (named_files, {"docs/a.md": "\n`core/a.md`", "core/b.h": "// See\n// c.md."},
     ["core/b.h:2: names c.md", "docs/a.md:2: names core/a.md"]),
    *[(form, {path: "// What.\n#ifndef BANYAN_A_B_H_\n#define BANYAN_A_B_H_\n#endif  // BANYAN_A_B_H_\n"}, found)
      for path, found in (("a/b.h", []), ("a/c.h", ["a/c.h:1: lacks the header guard BANYAN_A_C_H_"]))],
    (form, {"a/b.h": "// What.\n#ifndef BANYAN_A_B_H_\n#define BANYAN_A_B_H_\n#endif\n"}, ["a/b.h:1: lacks the"]),
    (form, {"core/a.h": "#pragma once"}, ["core/a.h:1: lacks the header guard", "core/a.h:1: starts with no comment"]),
    (form, {"core/BUILD": "# kXX" "Xs\n# FIX" "ME"}, ["core/BUILD:2: has the mark FIX"]),
    (links, {"docs/a.md": "[a](b.md#c-d), [b](../x), [c](http://e), [d](#t)\n# T", "docs/b.md": "# C `d`!",
             "x/y.cc": ""}, []),
    (links, {"docs/a.md": "\n[a](c.md), [b](b.md#e)", "docs/b.md": ""},
     ["docs/a.md:1: links to #e, which is no heading of docs/b.md", "docs/a.md:2: links to docs/c.md"]),
    (plain_words, {"docs/a.md": "`banyan wan cut`\n\n    nobody\n```\ncut\n```", "docs/protocol.md": "a cut",
                   "tools/a.cc": '// somebody\n"a node"'}, []),
    (plain_words, {"docs/a.md": "a\na cut. Who comes", "tools/a.cc": '"whoever asks"'},
     ["docs/a.md:2: says 'Who'", "docs/a.md:2: says 'cut'", "tools/a.cc:1: prints 'whoever'"]),
    (word_budget, {"README.md": "word | " * 700, "docs/reference/a.md": "word " * 15000}, []),
    (word_budget, {"README.md": "word " * 701, "docs/a.md": "word " * 13300},
     ["README.md:1: has 701 words", "docs/README.md:1: with all documents has 14001 words"]),
    (troubleshooting, {"docs/troubleshooting.md": "| `a b` | c |\n" * 40, "node/a.cc": '"a "  // x\n    "b"'}, []),
    (troubleshooting, {"docs/troubleshooting.md": "| `a b` | c |", "node/a.cc": '// "a b"\n"a"'},
     ["docs/troubleshooting.md:1: has '", "docs/troubleshooting.md:1: has 1 messages"]),
    *[(command_list, {**PROGRAM, "docs/reference/commands.md": "| `banyan node` | runs |\n| `banyan demo` | x |\n" +
                      row}, found) for row, found in (("| `banyan status` | shows |", []), (
           "| `banyan status` | x |", ["docs/reference/commands.md:1: lacks the row | `banyan status`"]))],
]


def breaches(rule, files):
    return [f"{path}:{line}: {message}" for path, line, message in sorted(set(rule(dict(sorted(files.items())))))]


def read_tree(root):
    """Reads the files that people write; hidden ones, links and other kinds are none."""
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name[0] != "."]
        for path in (os.path.join(folder, name) for name in names if name.endswith(WRITTEN)):
            if not os.path.islink(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    files[os.path.relpath(path, root)] = file.read()
    return files


def main():
    failures = []
    for rule, files, expected in SAMPLES:
        found = breaches(rule, files)
        if len(found) != len(expected) or not all(map(str.startswith, found, expected)):
            failures.append(f"the rule {rule.__name__} is broken: expected {expected} in {files}, found {found}")
    rules = dict.fromkeys(rule for rule, _, expected in SAMPLES if expected)
    if "--self-test" not in sys.argv:
        files = read_tree(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
        seen = {folder for path in files for folder in folders_of(path)}
        failures += [f"tests/tidy/check.py:1: FLOORS names {folder}/, which has no files: take it out"
                     for folder in FLOOR_OF if folder not in seen]
        for rule in rules:
            failures += breaches(rule, files)
    print("\n".join(failures or ["no breach"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
