"""Trains a small transformer at several sites of this machine, by one of several methods, from one script.

    python3 train.py --mode diloco --sites 4 --steps 600

Modes: `single`, one process on all sites' batches; `alone`, the first site by itself; and over Banyan `ddp` (the
gradients of every step), `diloco`, `streaming`, `localsgd` (together every --sync-every steps) and `hfa` (a site's workers
every --k1 steps, all every --sync-every). Prints a line of JSON: losses in nats per character, the float32 numbers that a
worker has sent, the bytes that sites have sent each other after the start, the seconds of the steps, how many of them the
first worker waited for the others in local updates, and how many it compared replicas with `ddp`. With --mbps sites are on the emulated WAN (docs/wan.md).
"""

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import banyan
import banyan.torch as bt
import torch
from banyan.testing import LocalJob, find_command
from tiny_gpt import Text, TinyGPT, loss_of
from torch.nn.parallel import DistributedDataParallel

_WARM_UP = 50
_TOGETHER = ("ddp", "diloco", "streaming", "localsgd", "hfa")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default="ddp", choices=["single", "alone", *_TOGETHER])
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1, help="of a site, each with batches of its own")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--every", type=int, default=200, help="steps between two looks at the validation loss")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sync-every", type=int, default=20)
    parser.add_argument("--k1", type=int, default=5, help="of hfa, steps")
    parser.add_argument("--fragments", type=int, default=2, help="of streaming")
    parser.add_argument("--delay", type=int, default=2, help="of streaming, steps")
    parser.add_argument("--codec", help="how what is sent is compressed, such as int4 (docs/compression.md)")
    parser.add_argument("--mbps", type=float, help="the rate of the links between sites, Mbit/s; default: loopback")
    # What run_sites gives each worker.
    parser.add_argument("--site", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def rate_of(step, steps):
    """Returns the share of the learning rate: a warm-up, then a cosine down to a tenth."""
    if step < _WARM_UP:
        return (step + 1) / _WARM_UP
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - _WARM_UP) / max(1, steps - _WARM_UP)))


def join_in(options, job, model, inner):
    """Makes the training one with the job's: returns the model to call, and what synchronises."""
    if options.mode == "ddp":
        bt.local_group()
        model = DistributedDataParallel(model)
        sync = bt.attach(job, model)
        sync.watch(inner)
        return model, sync
    if options.mode == "diloco":
        return model, bt.DiLoCo(job, model, inner, bt.Nesterov(0.7, 0.9), sync_every=options.sync_every)
    if options.mode == "streaming":
        return model, bt.StreamingDiLoCo(
            job, model, inner, sync_every=options.sync_every, fragments=options.fragments,
            fragment_sync_delay=options.delay,
        )
    if options.mode == "localsgd":
        return model, bt.LocalSGD(job, model, inner, sync_every=options.sync_every)
    if options.mode == "hfa":
        return model, bt.HFA(job, model, inner, k1=options.k1, k2=options.sync_every // options.k1)
    return model, None


def train(options, job, sites, workers):
    """Trains on the batches that these workers have at these sites, and returns what to print."""
    torch.set_num_threads(1)
    text = Text(options.sites)
    torch.manual_seed(options.seed)
    net = TinyGPT(text.characters)
    inner = torch.optim.AdamW(net.parameters(), lr=3e-3, betas=(0.9, 0.99), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(inner, lambda step: rate_of(step, options.steps))
    model, sync = join_in(options, job, net, inner)
    sent_before = bytes_sent(options, job)
    losses, begun = {}, time.monotonic()
    for step in range(options.steps):
        inner.zero_grad()
        parts = [text.batch(site, step, options.seed, worker) for site in sites for worker in workers]
        loss = loss_of(model, torch.cat(parts))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        inner.step()
        schedule.step()
        if job is not None and step % 10 == 0:
            job.report_loss(step, loss.item())
        if (step + 1) % options.every == 0 or step + 1 == options.steps:
            with torch.no_grad():
                losses[step + 1] = round(loss_of(net, text.validation()).item(), 4)
    size = sum(each.numel() for each in net.parameters())
    sent, waited = size * options.steps, 0.0
    checked = getattr(sync, "checked_seconds", 0.0)
    if isinstance(sync, bt.DiLoCo):
        sync.flush()
        sent, waited = sync.sent_elements, sync.waited_seconds
    seconds = time.monotonic() - begun
    return {
        "mode": options.mode, "parameters": size, "validation": losses, "sent": 0 if sync is None else sent,
        "bytes": bytes_sent(options, job) - sent_before, "seconds": round(seconds, 1), "waited": round(waited, 2),
        "checked": round(checked, 3),
    }


def bytes_sent(options, job, seconds=3):
    """Returns what all sites have sent each other, once the scheduler hears of no more. All workers call it alike; the
    first one gets to know."""
    if job is None:
        return 0
    job.barrier(600)
    count, since = -1, time.monotonic()
    while options.site == options.worker == 0 and time.monotonic() < since + seconds:
        status = subprocess.run([find_command(), "status", "--json"], check=True, stdout=subprocess.PIPE).stdout
        now = sum(link["bytes"] for link in json.loads(status)["links"])
        if now != count:
            count, since = now, time.monotonic()
        time.sleep(0.2)
    job.barrier(600)
    return count


def run_sites(options):
    """Runs each worker of each site as a process of its own, with a scheduler on this machine."""
    more = f"compression: {{rules: [{{keys: '*', codec: {options.codec}}}]}}" if options.codec else ""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="banyan-"))
        if options.mbps is None:
            job = stack.enter_context(LocalJob(nodes=options.sites, workers=options.workers, more=more))
            names, scheduler, prefix = job.names, job.scheduler, lambda name: []
        else:
            names, scheduler, prefix = stack.enter_context(emulated_wan(options, more))
        workers = [
            subprocess.Popen(
                [
                    *prefix(name), sys.executable, *sys.argv, "--site", str(site), "--worker", str(worker), "--folder", folder
                ],
                env={**os.environ, "BANYAN_SCHEDULER": scheduler, "BANYAN_NAME": name},
                stdout=None if site == worker == 0 else subprocess.DEVNULL,
            )
            for site, name in enumerate(names) for worker in range(options.workers)
        ]
        return max(abs(each.wait()) for each in workers)


@contextlib.contextmanager
def worker_of_site(options):
    """Joins the job: the site's first worker with a node inside its process, through which the others come."""
    socket, address = f"unix:{options.folder}/{options.site}", os.environ.get("BANYAN_WAN_ADDRESS")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{options.folder}/group{options.site}", rank=options.worker, world_size=options.workers
    )
    if options.worker > 0:
        with banyan.join(socket, worker=options.worker) as job:
            yield job
        torch.distributed.barrier()
    else:
        listen = f"tcp://{address}:7701" if address else None
        with banyan.join(worker=0, listen=listen, insecure=listen is not None, worker_socket=socket) as job:
            yield job
            torch.distributed.barrier()  # the node serves all of them until they are done


@contextlib.contextmanager
def emulated_wan(options, more):
    """Runs a WAN with a link between every two sites, and a scheduler at the first one.

    Yields the sites' names, the scheduler's address, and what makes a command line one at a site.
    """
    names = [f"n{i + 1}" for i in range(options.sites)]
    banyan_command = find_command()
    with tempfile.TemporaryDirectory() as folder:
        overlay, at = f"{folder}/overlay.yaml", ["--dir", f"{folder}/wan"]
        nodes = ", ".join(f"{{name: {name}, address: 'tcp://{name}:7701', workers: {options.workers}}}" for name in names)
        links = ", ".join(
            f"{{between: [{one}, {other}], mbps: {options.mbps}, delay_ms: 20}}"
            for i, one in enumerate(names) for other in names[i + 1 :]
        )
        with open(overlay, "w", encoding="utf-8") as file:
            file.write(
                f"job: tiny_gpt\nscheduler: {{address: 'tcp://n1:7700'}}\nnodes: [{nodes}]\nlinks: [{links}]\n{more}\n"
            )
        subprocess.run([banyan_command, "wan", "up", overlay, *at], check=True, stdout=subprocess.DEVNULL)
        try:
            def prefix(name):
                return [banyan_command, "wan", "exec", name, *at, "--"]

            job = [*prefix("n1"), banyan_command, "scheduler", overlay, "--forgetful", "--insecure"]
            with open(f"{folder}/scheduler.log", "w", encoding="utf-8") as log:
                scheduler = subprocess.Popen(job, stdout=log, stderr=log)
            yield names, "tcp://n1:7700", prefix
            scheduler.terminate()
            scheduler.wait(60)
        finally:
            subprocess.run([banyan_command, "wan", "down", *at], check=False, stdout=subprocess.DEVNULL)


def main():
    options = parse()
    if options.mode in ("single", "alone"):
        sites = range(options.sites) if options.mode == "single" else [0]
        print(json.dumps(train(options, None, sites, range(options.workers))))
        return 0
    if options.site is None:
        return run_sites(options)
    with worker_of_site(options) as job:
        print(json.dumps(train(options, job, [options.site], [options.worker])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
