"""Headers of libraries that nearly every file includes, in the form in which GCC has read them already.

Reading Abseil's, GoogleTest's and the standard library's headers is more than half of what compiling takes here. GCC looks
for a precompiled HEADER.gch wherever it looks for HEADER, and takes it only if it was made with flags that mean the
same; else it reads the header itself. .bazelrc names the one header that every file is to begin with (-include), and who
depends on this rule has its precompiled form on the path. That has all headers which `source` includes. GCC passes over forms
that were made with other flags, in this folder and in the next.

GCC does not name it among a file's dependencies. So Bazel compiles nothing again when only `source` changes, and what
was compiled before is as good.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# For what is compiled at a level of optimization of its own: GCC takes what was precompiled at another, and may break.
PLAIN_HEADERS = ["-DBANYAN_PLAIN_HEADERS"]

def _precompile(ctx, toolchain, source, flags, output):
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        cc_toolchain = toolchain,
        feature_configuration = features,
        output_file = output.path,
        quote_include_directories = depset(["."]),
        source_file = source.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + flags,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = "c++-compile"),
        arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
            action_name = "c++-compile",
            feature_configuration = features,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            action_name = "c++-compile",
            feature_configuration = features,
            variables = variables,
        ),
        inputs = depset([source] + ctx.files.includes, transitive = [toolchain.all_files]),
        outputs = [output],
        mnemonic = "Precompile",
        progress_message = "Precompiling " + source.short_path,
    )

def _precompiled_headers_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    # GCC tries all files of a directory with this name.
    output = ctx.actions.declare_file("%s/%s.gch/%s" % (ctx.label.name, ctx.attr.stands_for, ctx.file.source.basename))
    _precompile(ctx, toolchain, ctx.file.source, ctx.attr.flags, output)
    path = "/".join([part for part in [ctx.bin_dir.path, ctx.label.workspace_root, ctx.label.name] if part])
    context = cc_common.create_compilation_context(headers = depset([output]), quote_includes = depset([path]))
    return [DefaultInfo(files = depset([output])), CcInfo(compilation_context = context)]

precompiled_headers = rule(
    implementation = _precompiled_headers_impl,
    attrs = {
        "source": attr.label(allow_single_file = [".h"], mandatory = True),
        "includes": attr.label_list(allow_files = [".h"], doc = "headers of this repository that `source` includes"),
        "stands_for": attr.string(mandatory = True, doc = "the header that -include names"),
        "flags": attr.string_list(doc = "what --per_file_copt of .bazelrc adds for tests"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
