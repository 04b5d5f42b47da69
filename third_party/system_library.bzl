"""A library that a Debian package installs: its headers lie on the compiler's own path, so only linking needs a word."""

def _system_library_impl(ctx):
    compilation = cc_common.create_compilation_context(
        defines = depset(ctx.attr.defines),
        system_includes = depset(ctx.attr.system_includes),
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        # A library that a binary does not use is not loaded at its start.
        user_link_flags = depset(["-Wl,--push-state,--as-needed"] + ctx.attr.linkopts + ["-Wl,--pop-state"]),
    )
    info = CcInfo(
        compilation_context = compilation,
        linking_context = cc_common.create_linking_context(linker_inputs = depset([linker_input])),
    )
    return [cc_common.merge_cc_infos(direct_cc_infos = [info], cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])]

system_library = rule(
    implementation = _system_library_impl,
    attrs = {
        "defines": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "linkopts": attr.string_list(),
        "system_includes": attr.string_list(doc = "absolute directories for -isystem"),
    },
)
