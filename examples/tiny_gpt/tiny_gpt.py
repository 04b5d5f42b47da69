"""A character transformer of 0.1 million parameters, and its text: what train.py trains."""

import subprocess

import torch
from torch import nn

CONTEXT = 64


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        future = torch.full((CONTEXT, CONTEXT), float("-inf")).triu(1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) / (width // self.heads) ** 0.5 + self.future[:length, :length]
        x = x + self.project((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, characters, *, width=64, heads=4, layers=2):
        super().__init__()
        self.characters = nn.Embedding(characters, width)
        self.positions = nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, characters, bias=False)
        for each in self.parameters():
            if each.dim() == 2:
                nn.init.normal_(each, std=0.02)

    def forward(self, x):
        x = self.characters(x) + self.positions(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def loss_of(model, batch):
    """Returns nats per character."""
    logits = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


class Text:
    """The King James Bible of Debian's package bible-kjv, cut into a part for each site, by books.

    Each part's last twentieth is for validation. Parts are unlike each other, as data of sites are.
    """

    def __init__(self, sites):
        text = subprocess.run(
            ["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True, stdin=subprocess.DEVNULL
        ).stdout.decode("latin-1")
        letters = sorted(set(text))
        numbers = {letter: i for i, letter in enumerate(letters)}
        self.characters = len(letters)
        numbered = torch.tensor([numbers[letter] for letter in text])
        parts = numbered.chunk(sites)
        self._training = [part[: len(part) * 19 // 20] for part in parts]
        self._validation = [part[len(part) * 19 // 20 :] for part in parts]

    @staticmethod
    def _draw(part, size, generator):
        starts = torch.randint(len(part) - CONTEXT - 1, (size,), generator=generator)
        return torch.stack([part[start : start + CONTEXT + 1] for start in starts])

    def batch(self, site, step, seed, worker=0, size=8):
        """Returns the batch that a worker of a site has at a step: the same one in each run of a seed."""
        generator = torch.Generator().manual_seed(1_000_003 * seed + 1009 * step + site + 1_000_000_007 * worker)
        return self._draw(self._training[site], size, generator)

    def validation(self, size=256):
        """Returns as many sequences of each part's end."""
        generator = torch.Generator().manual_seed(1)
        each = size // len(self._validation)
        return torch.cat([self._draw(part, each, generator) for part in self._validation])
