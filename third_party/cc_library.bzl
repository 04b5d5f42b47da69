"""Libraries of C++ whose files are compiled several at a time.

Most of what compiling a file takes here is reading headers and making what their templates ask for: files of one library
have both in common. So a library's files are put together, at most `_MOST` at a time, and each such file is compiled as one.
That halves what a build takes. A change to one file costs a few seconds more.

So a name in an unnamed namespace is to be used by one file of a library only; in a test, such namespaces get a name of
their own for each file. With --define=headers=plain, as under ThreadSanitizer, each file is compiled by itself, which shows
whether it includes what it uses.
"""

# More save little, and take longer when one file changes.
_MOST = 10

def _joined_impl(ctx):
    copy = "sed \"s/^namespace {$/namespace of_$(basename \"$file\" .cc) {/\"" if ctx.attr.are_tests else "cat"
    ctx.actions.run_shell(
        inputs = ctx.files.srcs,
        outputs = [ctx.outputs.out],
        arguments = [ctx.outputs.out.path] + [source.path for source in ctx.files.srcs],
        # Messages name the file and line that were written.
        command = "out=$1; shift; for file; do echo \"#line 1 \\\"$file\\\"\"; " + copy + " \"$file\"; done >\"$out\"",
        mnemonic = "Join",
        progress_message = "Joining the files of " + ctx.label.name,
    )

_joined = rule(
    implementation = _joined_impl,
    attrs = {
        "are_tests": attr.bool(),
        "out": attr.output(mandatory = True),
        "srcs": attr.label_list(allow_files = [".cc"], mandatory = True),
    },
)

def join(name, files, are_tests = False, **kwargs):
    """Returns what is compiled of `files`: those put together, or themselves where headers are plain.

    Args:
      name: the name of the library or test.
      files: its .cc.
      are_tests: whether they define the same names in unnamed namespaces.
      **kwargs: what the rules that put them together take besides.
    """
    groups = (len(files) + _MOST - 1) // _MOST
    size = (len(files) + groups - 1) // groups
    joined = []
    for first in range(0, len(files), size):
        together = files[first:first + size]
        if len(together) == 1:
            joined += together
            continue
        out = "%s_joined_%d%s" % (name, len(joined) + 1, "_test" if are_tests else "")
        _joined(
            name = out,
            srcs = together,
            out = out + ".cc",
            are_tests = are_tests,
            visibility = ["//visibility:private"],
            **kwargs
        )
        joined.append(out + ".cc")
    return select({
        "//third_party:with_plain_headers": files,
        "//conditions:default": joined,
    })

def cc_library(name, srcs = [], apart = [], **kwargs):
    """Makes a library as the native rule does, of files that are compiled several at a time.

    Args:
      name: the library's name.
      srcs: its files; those that are no .cc are passed on.
      apart: those of them that are compiled by themselves: what they need does not go together with others.
      **kwargs: what else the native rule takes. A library with `copts` is compiled file by file.
    """
    files = [source for source in srcs if source.endswith(".cc") and source not in apart]
    if len(files) < 2 or "copts" in kwargs:
        native.cc_library(name = name, srcs = srcs, **kwargs)
        return
    native.cc_library(
        name = name,
        srcs = [source for source in srcs if source not in files] +
               join(name, files, testonly = kwargs.get("testonly", False)),
        **kwargs
    )
