"""C++ libraries whose sources nvcc compiles. load() it only where @cuda is meant to be looked for."""

load("@cuda//:cuda.bzl", "CUDA_LIBRARIES", "CUDA_LOOKED_IN", "NVCC")

# Targets that need CUDA have this as target_compatible_with: without --config=cuda, `//...` leaves them out.
NEEDS_CUDA = select({
    "//third_party:with_cuda": [],
    "//conditions:default": ["//third_party:nowhere"],
})

# Turing to Blackwell, and code that later ones translate for themselves.
_ARCHITECTURES = ["75", "80", "86", "90", "100"]
_LATER = "100"

# The same numbers as on a host: no contraction to fused multiply-add, division and square root rounded once, subnormal
# numbers kept.
_SAME_NUMBERS = ["--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"]

def _cuda_objects_impl(ctx):
    if not NVCC:
        fail("expected nvcc and libcudart_static.a in %s; install CUDA or set CUDA_HOME" % CUDA_LOOKED_IN)
    headers = depset(transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps])
    objects = []
    for source in ctx.files.srcs:
        output = ctx.actions.declare_file(source.basename + ".o")
        arguments = ctx.actions.args()
        arguments.add_all(["-c", source, "-o", output, "-I.", "-std=c++20", "-O3", "--expt-relaxed-constexpr"])
        arguments.add_all(_SAME_NUMBERS)
        arguments.add_all(["-ccbin", "/usr/bin/g++", "-Werror", "all-warnings"])
        arguments.add_all(["-Xcompiler", "-Wall,-Wextra,-Werror,-ffp-contract=off"])
        for architecture in _ARCHITECTURES:
            arguments.add_all(["-gencode", "arch=compute_%s,code=sm_%s" % (architecture, architecture)])
        arguments.add_all(["-gencode", "arch=compute_%s,code=compute_%s" % (_LATER, _LATER)])
        ctx.actions.run(
            executable = NVCC,
            arguments = [arguments],
            inputs = depset([source] + ctx.files.hdrs, transitive = [headers]),
            outputs = [output],
            mnemonic = "Nvcc",
            progress_message = "Compiling for GPUs " + source.short_path,
            use_default_shell_env = True,
        )
        objects.append(output)
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "srcs": attr.label_list(allow_files = [".cu"], mandatory = True),
    },
)

def cuda_library(name, srcs, hdrs, textual_hdrs = [], deps = [], visibility = None):
    """A library of .cu files, for targets that have NEEDS_CUDA too.

    Args:
      name: the library's name.
      srcs: the .cu files.
      hdrs: headers for C++ as well as for them.
      textual_hdrs: headers for the .cu files alone.
      deps: libraries whose headers they include.
      visibility: as usual.
    """
    _cuda_objects(
        name = name + "_objects",
        srcs = srcs,
        hdrs = hdrs + textual_hdrs,
        target_compatible_with = NEEDS_CUDA,
        deps = deps,
    )
    native.cc_library(
        name = name,
        srcs = [name + "_objects"],
        hdrs = hdrs,
        linkopts = ["-L" + CUDA_LIBRARIES, "-lcudart_static", "-ldl", "-lrt", "-lpthread"],
        target_compatible_with = NEEDS_CUDA,
        visibility = visibility,
        deps = deps,
    )
