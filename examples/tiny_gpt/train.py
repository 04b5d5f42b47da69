"""Trains a small transformer at several sites of this machine, by one of several methods, from one script.

    python3 train.py --mode diloco --sites 4 --steps 600

Modes: `single`, one process on all sites' batches; `alone`, the first site by itself; and over Banyan `ddp` (the
gradients of every step), `diloco`, `streaming` and `localsgd` (together every --sync-every steps). Prints a line of JSON:
losses in nats per character, the float32 numbers that a site has sent, the seconds of its steps, and how many of them
it waited for the others in local updates. With --mbps sites are on the emulated WAN (docs/wan.md).
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


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default="ddp", choices=["single", "alone", "ddp", "diloco", "streaming", "localsgd"])
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sync-every", type=int, default=20)
    parser.add_argument("--fragments", type=int, default=2, help="of streaming")
    parser.add_argument("--delay", type=int, default=2, help="of streaming, steps")
    parser.add_argument("--codec", help="how what is sent is compressed, such as int4 (docs/compression.md)")
    parser.add_argument("--mbps", type=float, help="the rate of the links between sites, Mbit/s; default: loopback")
    parser.add_argument("--site", type=int, help="this process is one site; BANYAN_SCHEDULER and BANYAN_NAME say of what")
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
        return model, bt.attach(job, model)
    if options.mode == "diloco":
        return model, bt.DiLoCo(job, model, inner, bt.Nesterov(0.7, 0.9), sync_every=options.sync_every)
    if options.mode == "streaming":
        return model, bt.StreamingDiLoCo(
            job, model, inner, sync_every=options.sync_every, fragments=options.fragments,
            fragment_sync_delay=options.delay,
        )
    if options.mode == "localsgd":
        return model, bt.LocalSGD(job, model, inner, sync_every=options.sync_every)
    return model, None


def train(options, job, sites):
    """Trains on the batches of these sites, and returns what to print."""
    torch.set_num_threads(1)
    text = Text(options.sites)
    torch.manual_seed(options.seed)
    net = TinyGPT(text.characters)
    inner = torch.optim.AdamW(net.parameters(), lr=3e-3, betas=(0.9, 0.99), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(inner, lambda step: rate_of(step, options.steps))
    model, sync = join_in(options, job, net, inner)
    losses, begun = {}, time.monotonic()
    for step in range(options.steps):
        inner.zero_grad()
        loss = loss_of(model, torch.cat([text.batch(site, step, options.seed) for site in sites]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        inner.step()
        schedule.step()
        if job is not None and step % 10 == 0:
            job.report_loss(step, loss.item())
        if (step + 1) % 200 == 0 or step + 1 == options.steps:
            with torch.no_grad():
                losses[step + 1] = round(loss_of(net, text.validation()).item(), 4)
    size = sum(each.numel() for each in net.parameters())
    waited = 0.0
    if isinstance(sync, bt.DiLoCo):
        sync.flush()
        sent, waited = sync.sent_elements, sync.waited_seconds
    else:
        sent = 0 if sync is None else size * options.steps
    return {
        "mode": options.mode, "parameters": size, "validation": losses, "sent": sent,
        "seconds": round(time.monotonic() - begun, 1), "waited": round(waited, 2),
    }


def run_sites(options):
    """Runs each site as a process of its own, with a scheduler on this machine."""
    more = f"compression: {{rules: [{{keys: '*', codec: {options.codec}}}]}}" if options.codec else ""
    with contextlib.ExitStack() as stack:
        if options.mbps is None:
            job = stack.enter_context(LocalJob(nodes=options.sites, more=more))
            names, scheduler, prefix = job.names, job.scheduler, lambda name: []
        else:
            names, scheduler, prefix = stack.enter_context(emulated_wan(options.sites, options.mbps, more))
        sites = [
            subprocess.Popen(
                [*prefix(name), sys.executable, *sys.argv, "--site", str(i)],
                env={**os.environ, "BANYAN_SCHEDULER": scheduler, "BANYAN_NAME": name},
                stdout=None if i == 0 else subprocess.DEVNULL,
            )
            for i, name in enumerate(names)
        ]
        return max(abs(site.wait()) for site in sites)


@contextlib.contextmanager
def emulated_wan(sites, mbps, more):
    """Runs a WAN with a link between every two sites, and a scheduler at the first one.

    Yields the sites' names, the scheduler's address, and what makes a command line one at a site.
    """
    names = [f"n{i + 1}" for i in range(sites)]
    banyan_command = find_command()
    with tempfile.TemporaryDirectory() as folder:
        overlay, at = f"{folder}/overlay.yaml", ["--directory", f"{folder}/wan"]
        nodes = ", ".join(f"{{name: {name}, address: 'tcp://{name}:7701'}}" for name in names)
        links = ", ".join(
            f"{{between: [{one}, {other}], mbps: {mbps}, delay_ms: 20}}"
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
        print(json.dumps(train(options, None, sites)))
        return 0
    if options.site is None:
        return run_sites(options)
    address = os.environ.get("BANYAN_WAN_ADDRESS")
    listen = f"tcp://{address}:7701" if address else None
    with banyan.join(listen=listen, insecure=listen is not None) as job:
        print(json.dumps(train(options, job, [options.site])), flush=True)
        job.barrier(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
