"""Compares the rounds that `banyan plan` predicts with those that `banyan sim` takes, on sixty invented networks of eight kinds.

    python3 bench/predictions.py [--banyan ./banyan] [--sizes 46MB,1GB] [--only KIND,..] [--beside]

Prints a line for each network and size, and in the end which part of the predictions lies within 0.9 to 1.12 of the simulation. With
--beside it also simulates a star, mst and fapt, and tells how much longer planning takes where the model's size is known.
"""

import argparse
import json
import math
import os
import random
import resource
import subprocess
import tempfile

LATITUDES, LONGITUDES = [40, 50, 35, 1, -30, 20, 55], [-100, -80, 0, 10, 100, 140, -50, 75]


def places(draw, count):
    """Returns places on the globe, near to where regions of clouds are."""
    return [(math.radians(draw.choice(LATITUDES) + draw.uniform(-8, 8)), math.radians(draw.choice(LONGITUDES) + draw.uniform(-12, 12)))
            for _ in range(count)]


def delay_ms(a, b):
    cosine = math.sin(a[0]) * math.sin(b[0]) + math.cos(a[0]) * math.cos(b[0]) * math.cos(a[1] - b[1])
    return 0.2 + 6371 * math.acos(max(-1.0, min(1.0, cosine))) / 200 * 1.4


def pairs(count):
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


# Each kind returns the number of nodes, links (a, b, Mbit/s there, Mbit/s back, ms), and caps (up, down) by node.


def regions(draw, regions, machines, links_between):
    at = places(draw, regions)
    links = [(r * machines + a, r * machines + b, 10000, 10000, 0.1) for r in range(regions) for a, b in pairs(machines)]
    for r, s in pairs(regions):
        for k in range(links_between):
            a, b = ((s + 3 * k) % machines, (r + 3 * k) % machines) if links_between > 1 else (0, 0)
            rate = draw.uniform(200, 2000)
            links.append((r * machines + a, s * machines + b, rate, rate, delay_ms(at[r], at[s])))
    return regions * machines, links, {}


def delay_mesh(draw, count):
    at, links = places(draw, count), []
    for a, b in pairs(count):
        delay = delay_ms(at[a], at[b])
        rate = min(1000, 8000 / (2 * delay)) * draw.uniform(0.8, 1.2)
        links.append((a, b, rate, rate, delay))
    return count, links, {}


def research(draw, count, is_mixed):
    width = 2500 if is_mixed else 4500
    at = [(draw.uniform(0, width), draw.uniform(0, 0.7 * width)) for _ in range(count)]
    length = lambda a, b: math.hypot(at[a][0] - at[b][0], at[a][1] - at[b][1])
    edges, reached = set(), {0}
    while len(reached) < count:
        a, b = min(((a, b) for a in reached for b in range(count) if b not in reached), key=lambda edge: length(*edge))
        reached.add(b)
        edges.add((min(a, b), max(a, b)))
    more = sorted(set(pairs(count)) - edges, key=lambda edge: length(*edge) * draw.uniform(0.6, 1.6))
    edges |= set(more[: int(0.35 * count)])
    rate = lambda: draw.choice([622, 2500, 10000, 10000]) if is_mixed else 10000
    links = []
    for a, b in sorted(edges):
        both = rate()
        links.append((a, b, both, both, length(a, b) / 200 * 1.2 + 0.05))
    return count, links, {}


def regular(draw, count, degree, mbps):
    while True:
        ends = [node for node in range(count) for _ in range(degree)]
        draw.shuffle(ends)
        edges = {(min(a, b), max(a, b)) for a, b in zip(ends[::2], ends[1::2]) if a != b}
        if len(edges) >= 0.97 * len(ends) / 2:  # a few nodes have a link less
            return count, [(a, b, mbps, mbps, 0.05) for a, b in sorted(edges)], {}


def cloud(draw, count):
    at, links = places(draw, count), []
    caps = {node: draw.choice([(5000, 10000), (7000, 16000), (16000, 16000)]) for node in range(count)}
    for a, b in pairs(count):
        delay = delay_ms(at[a], at[b])
        there, back = (max(100, min(12000, draw.lognormvariate(math.log(60000 / (delay + 8)), 0.5))) for _ in range(2))
        links.append((a, b, there, back, delay))
    return count, links, caps


def wan(draw, count):
    edges = {(draw.randrange(max(0, node - 3), node), node) for node in range(1, count)}
    while len(edges) < int(1.45 * count):
        edges.add(tuple(sorted(draw.sample(range(count), 2))))
    return count, [(a, b, draw.uniform(20, 155), draw.uniform(20, 155), draw.uniform(1, 20)) for a, b in sorted(edges)], {}


def machines(draw, count):
    at, links = places(draw, count), []
    for a, b in pairs(count):
        delay = delay_ms(at[a], at[b])
        rate = max(80, min(7000, 20000 / (delay + 3))) * draw.uniform(0.8, 1.2)
        links.append((a, b, rate, rate, delay))
    return count, links, {}


def leaf_spine(draw, leaves, spines, mbps):
    return leaves + spines, [(a, spines + b, mbps, mbps, 0.02) for a in range(spines) for b in range(leaves)], {}


NETWORKS = (
    [("regions", regions, each) for each in [(8, 8, 1), (4, 16, 1), (16, 4, 1), (8, 8, 3), (4, 8, 2), (5, 6, 1)]]
    + [("delay_mesh", delay_mesh, (count,)) for count in [12, 20, 30, 40, 50, 50, 75, 99]]
    + [("research", research, (count, i % 2 == 1)) for i, count in enumerate([10, 11, 16, 20, 22, 24, 28, 30, 34, 37, 40, 50])]
    + [("regular", regular, each) for each in [(20, 4, 1000), (40, 4, 10000), (40, 6, 1000), (80, 4, 10000), (80, 6, 1000), (64, 5, 10000)]]
    + [("cloud", cloud, (count,)) for count in [8, 12, 20, 20, 30, 40, 63, 63]]
    + [("wan", wan, (count,)) for count in [7, 9, 9, 10, 11, 12, 14, 15]]
    + [("machines", machines, (count,)) for count in [2, 3, 4, 5, 6, 8]]
    + [("leaf_spine", leaf_spine, each) for each in [(8, 2, 1000), (12, 4, 1000), (16, 4, 10000), (24, 4, 10000), (32, 8, 10000), (20, 3, 25000)]]
)


def overlay(network):
    count, links, caps = network
    lines = ["nodes:"]
    for node in range(count):
        cap = f", up_mbps: {caps[node][0]}, down_mbps: {caps[node][1]}" if node in caps else ""
        lines.append(f"  - {{name: n{node}{cap}}}")
    lines.append("links:")
    lines += [f"  - {{between: [n{a}, n{b}], mbps: [{there:.1f}, {back:.1f}], delay_ms: {delay:.3f}}}" for a, b, there, back, delay in links]
    return "\n".join(lines) + "\n"


def processor_seconds(*words):
    """Returns what `words` has used of the processors, which others on the machine hardly change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def answer(*words):
    run = subprocess.run(words, stdout=subprocess.PIPE, universal_newlines=True, check=True)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--banyan", default="./banyan", help="the program")
    parser.add_argument("--sizes", default="46MB,1GB", help="of the model")
    parser.add_argument("--only", default="", help="kinds, such as wan,cloud")
    parser.add_argument("--beside", action="store_true", help="simulate other planners too, and what planning takes")
    arguments = parser.parse_args()
    ratios, to_best, longer = [], [], []

    def simulate(path, size, *more):
        return answer(arguments.banyan, "sim", path, "--model-size", size, "--rounds", "1", "--json", *more)["sync_seconds_p50"]

    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, make, values) in enumerate(NETWORKS):
            if arguments.only and kind not in arguments.only.split(","):
                continue
            path = os.path.join(folder, "overlay.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(overlay(make(random.Random(number), *values)))
            for size in arguments.sizes.split(","):
                predicted = answer(arguments.banyan, "plan", path, "--model-size", size, "--json")["round_seconds"]
                simulated = simulate(path, size)
                ratios.append(predicted / simulated)
                line = f"{kind:10} {str(values):15} {size:>5}  predicted {predicted:8.3f} s  simulated {simulated:8.3f} s  {ratios[-1]:.3f}"
                if arguments.beside:
                    others = {planner: simulate(path, size, "--planner", planner) for planner in ["star", "mst", "fapt"]}
                    best = min(others, key=others.get)
                    to_best.append(simulated / others[best])
                    planning = processor_seconds(arguments.banyan, "plan", path, "--model-size", size, "--json")
                    longer.append(planning / processor_seconds(arguments.banyan, "plan", path, "--json"))
                    line += f"  {to_best[-1]:.3f} of {best}  planning {planning:.2f} s, {longer[-1]:.2f} times"
                print(line, flush=True)
    ratios.sort()
    inside = sum(0.9 <= ratio <= 1.12 for ratio in ratios)
    if to_best:
        print(f"at most {max(to_best):.3f} of the best of star, mst and fapt; planning with the model's size at most {max(longer):.2f} times as long")
    print(f"{inside} of {len(ratios)} within 0.9 to 1.12; least {ratios[0]:.3f}, median {ratios[len(ratios) // 2]:.3f}, most {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
