"""Generated Protobuf code, by Debian's protoc."""

_ProtoInfo = provider(doc = "Sources that an importing file needs.", fields = {"sources": "depset of .proto files"})

def _protoc_impl(ctx):
    source = ctx.file.src
    if not source.basename.endswith(".proto"):
        fail("expected a .proto file, got " + source.basename)
    stem = source.basename[:-len(".proto")]
    header = ctx.actions.declare_file(stem + ".pb.h")
    code = ctx.actions.declare_file(stem + ".pb.cc")
    sources = depset([source], transitive = [dep[_ProtoInfo].sources for dep in ctx.attr.deps])
    ctx.actions.run(
        executable = "/usr/bin/protoc",
        arguments = ["--proto_path=.", "--cpp_out=" + ctx.bin_dir.path, source.path],
        inputs = sources,
        outputs = [header, code],
        mnemonic = "Protoc",
        progress_message = "Generating " + header.short_path,
    )
    return [
        DefaultInfo(files = depset([header, code])),
        OutputGroupInfo(headers = depset([header]), code = depset([code])),
        _ProtoInfo(sources = sources),
    ]

_protoc = rule(
    implementation = _protoc_impl,
    attrs = {
        "deps": attr.label_list(providers = [_ProtoInfo]),
        "src": attr.label(allow_single_file = True, mandatory = True),
    },
)

def banyan_proto_library(name, src, deps = [], visibility = None):
    """The C++ library of one .proto file, included as "<directory>/<file>.pb.h".

    Args:
      name: the library's name.
      src: the .proto file; it imports others by their path from the repository's root.
      deps: the banyan_proto_library targets whose files it imports.
      visibility: as usual.
    """
    generated = name + "_protoc"
    _protoc(
        name = generated,
        src = src,
        deps = [dep + "_protoc" for dep in deps],
        visibility = visibility,
    )
    native.filegroup(name = name + "_header", srcs = [generated], output_group = "headers")
    native.filegroup(name = name + "_code", srcs = [generated], output_group = "code")
    native.cc_library(
        name = name,
        srcs = [name + "_code"],
        hdrs = [name + "_header"],
        # Nobody here can mend generated code, and under sanitizers it builds many times slower.
        copts = [
            "-w",
            "-fno-sanitize=all",
        ],
        visibility = visibility,
        deps = deps + ["@system//:protobuf"],
    )
