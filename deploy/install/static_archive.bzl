"""One static library of all that a few libraries of this repository are made of, for programs built elsewhere."""

def _static_archive_impl(ctx):
    linking = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).linking_context
    archives = []
    flags = []
    for linker_input in linking.linker_inputs.to_list():
        for library in linker_input.libraries:
            archives.append(library.static_library or library.pic_static_library)
        flags += [flag for flag in linker_input.user_link_flags if flag.startswith("-l") and flag not in flags]
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    lines = ["CREATE " + ctx.outputs.archive.path]
    lines += ["ADDLIB " + archive.path for archive in archives] + ["SAVE", "END", ""]
    ctx.actions.write(script, "\n".join(lines))
    ctx.actions.run_shell(
        inputs = archives + [script],
        outputs = [ctx.outputs.archive],
        command = 'ar -M < "$1"',
        arguments = [script.path],
        mnemonic = "StaticArchive",
    )
    ctx.actions.write(ctx.outputs.flags, " ".join(flags) + "\n")

static_archive = rule(
    implementation = _static_archive_impl,
    attrs = {
        "archive": attr.output(doc = "the library", mandatory = True),
        "deps": attr.label_list(doc = "what the library offers; what they need goes in too", providers = [CcInfo]),
        "flags": attr.output(doc = "a file that names the system libraries to link with", mandatory = True),
    },
)
