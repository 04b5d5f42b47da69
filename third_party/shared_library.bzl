"""A shared library of what libraries of this repository are made of, for programs built elsewhere.

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

def _shared_library_impl(ctx):
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
    arguments.add("-shared")
    if ctx.attr.strip:
        arguments.add("-s")
    arguments.add_all(["-Wl,-z,defs", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,--gc-sections"])
    arguments.add("-Wl,-soname," + ctx.attr.soname)
    arguments.add("-Wl,--version-script=" + ctx.file.version_script.path)
    arguments.add_all(["-o", ctx.outputs.library])
    arguments.add("-Wl,--whole-archive")
    arguments.add_all(archives)
    arguments.add("-Wl,--no-whole-archive")
    arguments.add_all(flags + ["-lstdc++", "-lm"])
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-link-dynamic-library",
        ),
        arguments = [arguments],
        inputs = depset(archives + [ctx.file.version_script], transitive = [toolchain.all_files]),
        outputs = [ctx.outputs.library],
        mnemonic = "SharedLibrary",
        progress_message = "Linking " + ctx.outputs.library.short_path,
        use_default_shell_env = True,
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
        "strip": attr.bool(doc = "whether it goes without what debuggers read", default = True),
        "soname": attr.string(doc = "by which programs find it", mandatory = True),
        "version_script": attr.label(doc = "which symbols it exports", allow_single_file = True, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
