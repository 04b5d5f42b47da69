"""Trains a small transformer at several sites of this machine, by one of several methods, from one script.

    python3 train.py --mode diloco --sites 4 --steps 600

Modes: `single`, one process on all sites' batches; `alone`, the first site by itself; and over Banyan `ddp` (the
gradients of every step), `diloco`, `streaming` and `localsgd` (together every --sync-every steps). Prints a line of JSON:
losses in nats per character, and the float32 numbers that a site has sent.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

import banyan
import banyan.torch as bt
import torch
from banyan.testing import LocalJob
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
    if isinstance(sync, bt.DiLoCo):
        sync.flush()
        sent = sync.sent_elements
    else:
        sent = 0 if sync is None else size * options.steps
    return {
        "mode": options.mode, "parameters": size, "validation": losses, "sent": sent,
        "seconds": round(time.monotonic() - begun, 1),
    }


def run_sites(options):
    """Runs each site as a process of its own, with a scheduler on this machine."""
    more = f"compression: {{rules: [{{keys: '*', codec: {options.codec}}}]}}" if options.codec else ""
    with LocalJob(nodes=options.sites, more=more) as job:
        sites = [
            subprocess.Popen(
                [sys.executable, *sys.argv, "--site", str(i)],
                env={**os.environ, "BANYAN_SCHEDULER": job.scheduler, "BANYAN_NAME": name},
                stdout=None if i == 0 else subprocess.DEVNULL,
            )
            for i, name in enumerate(job.names)
        ]
        return max(abs(site.wait()) for site in sites)


def main():
    options = parse()
    if options.mode in ("single", "alone"):
        sites = range(options.sites) if options.mode == "single" else [0]
        print(json.dumps(train(options, None, sites)))
        return 0
    if options.site is None:
        return run_sites(options)
    with banyan.join() as job:
        print(json.dumps(train(options, job, [options.site])), flush=True)
        job.barrier(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
