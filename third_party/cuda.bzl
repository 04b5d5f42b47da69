"""CUDA, which is optional: `--config=cuda` builds with it what needs it, and nothing else looks at it."""

def _cuda_repository_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    has_compiler = ctx.path(home + "/bin/nvcc").exists
    libraries = ""
    for folder in ["/lib64", "/lib"]:
        if not libraries and ctx.path(home + folder + "/libcudart_static.a").exists:
            libraries = home + folder
    found = has_compiler and libraries != ""
    ctx.file("BUILD", "")
    ctx.file("cuda.bzl", "\n".join([
        "CUDA_LOOKED_IN = \"%s\"" % home,
        "NVCC = \"%s\"" % (home + "/bin/nvcc" if found else ""),
        "CUDA_LIBRARIES = \"%s\"" % (libraries if found else ""),
        "",
    ]))

# Where CUDA is: in CUDA_HOME, else under its usual prefix. Without it the repository says so and loads all the same.
cuda_repository = repository_rule(
    implementation = _cuda_repository_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
