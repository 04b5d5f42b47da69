"""Shared libraries of what libraries of this repository are made of, for programs built elsewhere; and programs for other systems.

Everything else here is compiled once and not for shared libraries (.bazelrc). What goes into one is compiled again, with
flags of its own; only who builds the shared library pays for that.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _position_independent_impl(settings, _attr):
    return {"//command_line_option:copt": settings["//command_line_option:copt"] + ["-fPIC", "-fvisibility=hidden"]}

_position_independent = transition(
    implementation = _position_independent_impl,
    inputs = ["//command_line_option:copt"],
    outputs = ["//command_line_option:copt"],
)

# What is taken as the system has it: glibc, and what unwinds stacks, which a process has once.
_OF_THE_SYSTEM = ["-lpthread", "-lm", "-ldl", "-lrt"]

# Archives that those of other libraries need.
_NEEDED = {"-lzmq": ["-l:libsodium.a"], "-lClp": ["-l:lapack/liblapack.a", "-l:blas/libblas.a", "-lbz2", "-lz"]}

# Loaded when it is first used (third_party/self_contained/late_curl.c).
_LOADED = ["-lcurl"]

def _self_contained(flags):
    """Returns the flags with archives in the place of shared libraries."""
    inside = []
    for flag in flags + ["-lstdc++"]:
        if flag in _LOADED or flag in _OF_THE_SYSTEM:
            continue
        for needed in [flag] + _NEEDED.get(flag, []):
            inside.append("-l:lib%s.a" % needed[2:] if needed.startswith("-l") and needed[2] != ":" else needed)
    # Of old releases these are libraries apart, which the names of glibc's newer ones do not ask for.
    system = ["-lm", "-Wl,--no-as-needed", "-l:libpthread.so.0", "-l:libdl.so.2"]
    return ["-fuse-ld=lld"] + inside + system

def _link(ctx, action, output, before, is_self_contained, whole, inputs = []):
    """Links all that `deps` are made of; `whole`: also what nothing refers to."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    linking = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).linking_context
    archives = []
    flags = []
    for linker_input in linking.linker_inputs.to_list():
        for library in linker_input.libraries:
            archives.append(library.static_library or library.pic_static_library)
        flags += linker_input.user_link_flags
    arguments = ctx.actions.args()
    arguments.add_all(before)
    arguments.add_all(["-Wl,-z,relro", "-Wl,-z,now", "-Wl,--gc-sections", "-o", output])
    if whole:
        arguments.add("-Wl,--whole-archive")
    arguments.add_all(archives)
    arguments.add("-Wl,--no-whole-archive")
    if is_self_contained:
        arguments.add_all(_self_contained(flags))
        arguments.add(ctx.file._wrapped, format = "@%s")
        inputs = inputs + [ctx.file._wrapped]
    else:
        arguments.add_all(flags + ["-lstdc++", "-lm"])
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = [arguments],
        inputs = depset(archives + inputs, transitive = [toolchain.all_files]),
        outputs = [output],
        mnemonic = "LinkApart",
        progress_message = "Linking " + output.short_path,
        use_default_shell_env = True,
    )

def _shared_library_impl(ctx):
    before = ["-shared", "-Wl,-z,defs"] + (["-s"] if ctx.attr.strip else [])
    before += ["-Wl,-soname," + ctx.attr.soname, "-Wl,--version-script=" + ctx.file.version_script.path]
    _link(
        ctx,
        "c++-link-dynamic-library",
        ctx.outputs.library,
        before,
        ctx.attr.self_contained,
        whole = True,
        inputs = [ctx.file.version_script],
    )

shared_library = rule(
    implementation = _shared_library_impl,
    attrs = {
        "deps": attr.label_list(
            doc = "what the library offers; what they need goes in too",
            cfg = _position_independent,
            providers = [CcInfo],
        ),
        "library": attr.output(doc = "the library", mandatory = True),
        "self_contained": attr.bool(doc = "whether it needs nothing but glibc 2.31 of the system that loads it"),
        "strip": attr.bool(doc = "whether it goes without what debuggers read", default = True),
        "soname": attr.string(doc = "by which programs find it", mandatory = True),
        "version_script": attr.label(doc = "which symbols it exports", allow_single_file = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_wrapped": attr.label(default = "//third_party/self_contained:wrapped.flags", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _self_contained_program_impl(ctx):
    _link(ctx, "c++-link-executable", ctx.outputs.program, ["-s", "-pie"], True, whole = False)

# A program that needs nothing but glibc 2.31 of the system that runs it.
self_contained_program = rule(
    implementation = _self_contained_program_impl,
    attrs = {
        "deps": attr.label_list(doc = "what it is made of, with its main", providers = [CcInfo]),
        "program": attr.output(doc = "the program", mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_wrapped": attr.label(default = "//third_party/self_contained:wrapped.flags", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
