"""Training loops as people write them: each at two sites gives what one process gives that has all batches, or is refused.

A case trains at a `Site` and returns tensors. The same case runs alone, where nothing is sent.
"""

import contextlib
import copy
import io
import pickle
import unittest

import torch_test  # first, as it skips where torch is not installed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import banyan.torch as bt
from banyan.testing import LocalJob
from scripts_test import Alone, Case, Small, on_sites, weights
from torch_test import joint_batch

STEPS = 4


class Site:
    def __init__(self, session, numbers):
        self.session, self.numbers = session, list(numbers)
        self.is_alone = session is None

    def attach(self, model, **options):
        return Alone() if self.is_alone else bt.attach(self.session, model, timeout=60, **options)

    def ddp(self, model, **options):
        bt.local_group()
        ddp = DistributedDataParallel(model, **options)
        return ddp, self.attach(ddp)

    def batch(self, step):
        return joint_batch(step, self.numbers)

    def mean(self, name, value):
        """Returns the mean of a number over all sites."""
        told = torch.tensor([float(value)], dtype=torch.float64)
        if not self.is_alone:
            self.session.init(name, torch.zeros(1, dtype=torch.float64))
            self.session.all_reduce(name, told)
        return told.item()


def loss_of(model, data):
    x, y = data
    return (model(x) - y).square().mean()


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), **{"lr": 0.1, **options})


def fixed(model, seed=3):
    """Gives a model values that are the same wherever it is made."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(torch.randn(each.shape, generator=generator) / 4)
    return model


def train(site, model, sync, optimizer, steps=STEPS, loss=loss_of, after=lambda step: None):
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)  # as torch 2 has it: momentum moves what has zeros
        loss(model, site.batch(step)).backward()
        sync.wait()
        optimizer.step()
        after(step)
    return weights(model)


CASES = []


def case(function):
    CASES.append(function)
    return function


# --- optimizers ---

@case
def two_optimizers_of_one_model(site):
    model = Small()
    sync = site.attach(model)
    one, other = sgd(model.first), torch.optim.Adam(model.last.parameters(), lr=0.01)
    for step in range(STEPS):
        one.zero_grad(), other.zero_grad()
        loss_of(model, site.batch(step)).backward()
        sync.wait()
        one.step(), other.step()
    return weights(model)


@case
def groups_of_parameters_with_options(site):
    model = Small()
    sync = site.attach(model)
    optimizer = torch.optim.AdamW([
        {"params": [model.first.weight, model.last.weight], "weight_decay": 0.1},
        {"params": [model.first.bias, model.last.bias], "weight_decay": 0, "lr": 0.02},
    ], lr=0.01)
    return train(site, model, sync, optimizer)


@case
def lbfgs(site):
    model = Small()
    sync = site.attach(model)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3)
    for step in range(2):

        def closure():
            optimizer.zero_grad()
            loss = loss_of(model, site.batch(step))
            loss.backward()
            sync.wait()
            return site.mean(f"loss/{step}/{len(seen)}", loss.item()) if not seen.append(1) else None

        seen = []
        optimizer.step(closure)
    return weights(model)


@case
def a_closure_of_sgd(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model, momentum=0.9)
    for step in range(STEPS):

        def closure():
            optimizer.zero_grad()
            loss = loss_of(model, site.batch(step))
            loss.backward()
            sync.wait()
            return loss

        optimizer.step(closure)
    return weights(model)


@case
def sharpness_aware_steps(site):
    """SAM: a step up along the gradient, a second backward there, and a step down from where it began."""
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, site.batch(step)).backward()
        sync.wait()
        ups = [each.grad * 0.05 for each in model.parameters()]
        with torch.no_grad():
            for each, up in zip(model.parameters(), ups):
                each.add_(up)
        optimizer.zero_grad()
        loss_of(model, site.batch(step)).backward()
        sync.wait()
        with torch.no_grad():
            for each, up in zip(model.parameters(), ups):
                each.sub_(up)
        optimizer.step()
    return weights(model)


@case
def rates_by_a_plateau_of_the_mean_loss(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5, threshold=0.5)
    train(site, model, sync, optimizer, after=lambda step: scheduler.step(
        site.mean(f"loss/{step}", loss_of(model, site.batch(step)).item())
    ))
    return torch.cat([weights(model), torch.tensor([optimizer.param_groups[0]["lr"]])])


@case
def one_cycle_of_rates(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=STEPS + 1)
    return train(site, model, sync, optimizer, after=lambda step: scheduler.step())


@case
def gradients_kept_at_zero_instead_of_none(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=False)
        loss_of(model, site.batch(step)).backward()
        sync.wait()
        optimizer.step()
    return weights(model)


@case
def weights_averaged_over_steps(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    average = torch.optim.swa_utils.AveragedModel(model)
    train(site, model, sync, optimizer, after=lambda step: average.update_parameters(model))
    return weights(average)


@case
def a_moving_average_of_a_ddp(site):
    model = Small()
    ddp, _ = site.ddp(model)
    optimizer, average = sgd(model), copy.deepcopy(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(ddp, site.batch(step)).backward()
        optimizer.step()
        with torch.no_grad():
            for own, now in zip(average.parameters(), model.parameters()):
                own.mul_(0.9).add_(now, alpha=0.1)
    return torch.cat([weights(model), weights(average)])


# --- several networks ---

def adversaries():
    return Small(), fixed(nn.Linear(4, 1))


@case
def gan_that_freezes_the_discriminator(site):
    generator, discriminator = adversaries()
    g, d = site.attach(generator, name="g"), site.attach(discriminator, name="d")
    steps = sgd(generator), sgd(discriminator)
    for step in range(STEPS):
        x, y = site.batch(step)
        steps[1].zero_grad()
        (discriminator(y).mean() - discriminator(generator(x).detach()).mean()).backward()
        d.wait()
        steps[1].step()
        discriminator.requires_grad_(False)
        steps[0].zero_grad()
        discriminator(generator(x)).square().mean().backward()
        g.wait()
        steps[0].step()
        discriminator.requires_grad_(True)
    return torch.cat([weights(generator), weights(discriminator)])


@case
def gan_whose_generator_ignores_the_discriminators_gradients(site):
    generator, discriminator = adversaries()
    g, d = site.attach(generator, name="g"), site.attach(discriminator, name="d")
    steps = sgd(generator), sgd(discriminator)
    for step in range(STEPS):
        x, y = site.batch(step)
        steps[0].zero_grad()
        with d.no_sync():
            discriminator(generator(x)).square().mean().backward()
        g.wait()
        steps[0].step()
        steps[1].zero_grad()
        (discriminator(y).mean() - discriminator(generator(x).detach()).mean()).backward()
        d.wait()
        steps[1].step()
    return torch.cat([weights(generator), weights(discriminator)])


@case
def a_penalty_by_the_gradients_of_parameters(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model, lr=0.02)
    for step in range(STEPS):
        optimizer.zero_grad()
        x, y = site.batch(step)
        parts = [(model(x[i : i + 6]) - y[i : i + 6]).square().mean() for i in range(0, len(x), 6)]
        total = sum(
            part + sum(each.square().sum() for each in torch.autograd.grad(part, list(model.parameters()), create_graph=True))
            for part in parts
        ) / len(parts)
        total.backward()
        sync.wait()
        optimizer.step()
    return weights(model)


@case
def a_target_network(site):
    """As deep Q-learning has it: a copy that follows, and gets no gradient."""
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    target = copy.deepcopy(model).requires_grad_(False)
    for step in range(STEPS):
        x, y = site.batch(step)
        optimizer.zero_grad()
        (model(x) - 0.5 * y - 0.5 * target(x)).square().mean().backward()
        sync.wait()
        optimizer.step()
        if step % 2:
            target.load_state_dict(model.state_dict())
    return torch.cat([weights(model), weights(target)])


@case
def several_attaches_whose_waits_are_crossed(site):
    models = [Small(), fixed(Small(), 5), fixed(nn.Linear(8, 4))]
    syncs = [site.attach(each, name=f"model{i}") for i, each in enumerate(models)]
    optimizers = [sgd(each) for each in models]
    for step in range(STEPS):
        for each in optimizers:
            each.zero_grad()
        sum(loss_of(each, site.batch(step)) for each in models).backward()
        for each in (*syncs[1:], syncs[0]):
            each.wait()
        for each in optimizers:
            each.step()
    return torch.cat([weights(each) for each in models])


@case
def detached_and_attached_again(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    train(site, model, sync, optimizer)
    if not site.is_alone:
        sync.detach()
    return train(site, model, site.attach(model, name="again"), optimizer)


# --- parts of networks ---

@case
def a_layer_used_twice(site):
    model = fixed(nn.Linear(8, 8))
    run = lambda model, data: model(torch.tanh(model(data[0]))).square().mean()
    return train(site, model, site.attach(model), sgd(model), loss=run)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(12, 8), nn.Linear(8, 12, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        return self.out(self.embed((x.abs() * 3).long().clamp(max=11)).mean(1))


def token_loss(model, data):
    return nn.functional.cross_entropy(model(data[0]), (data[1][:, 0].abs() * 4).long().clamp(max=11))


@case
def tied_weights(site):
    model = fixed(Tied())
    return train(site, model, site.attach(model), sgd(model), loss=token_loss)


@case
def tied_weights_in_ddp(site):
    model = fixed(Tied())
    ddp, sync = site.ddp(model)
    train(site, ddp, sync, sgd(model), loss=token_loss)
    return weights(model)


@case
def a_module_in_two_places(site):
    layer = fixed(nn.Linear(8, 8))
    model = nn.ModuleDict({"one": layer, "other": nn.Sequential(layer, nn.Tanh())})
    run = lambda model, data: (model["one"](data[0]) + model["other"](data[0])).square().mean()
    return train(site, model, site.attach(model), sgd(model), loss=run)


@case
def recurrent_layers(site):
    model = fixed(nn.LSTM(8, 8, num_layers=2, batch_first=True))
    run = lambda model, data: model(data[0][None])[0].square().mean() if len(data[0]) == 6 else sum(
        model(part[None])[0].square().mean() for part in data[0].split(6)
    ) / 2
    return train(site, model, site.attach(model), sgd(model), loss=run)


@case
def attention(site):
    model = fixed(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True))
    run = lambda model, data: model(data[0].view(-1, 1, 8)).sub(1).square().mean()
    return train(site, model, site.attach(model), sgd(model), loss=run)


@case
def normed_weights(site):
    """Whose parameters are made anew of others before each forward pass."""
    model = nn.utils.weight_norm(fixed(nn.Linear(8, 4)))
    return train(site, model, site.attach(model), sgd(model))


@case
def lists_and_odd_parameters(site):
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ParameterList([nn.Parameter(torch.full((8, 4), 0.1)), nn.Parameter(torch.full((4,), 0.2))])
            self.scale = nn.Parameter(torch.tensor(0.5))
            self.nothing = nn.Parameter(torch.zeros(0))
            self.turned = nn.Parameter((torch.arange(32.0) / 32).view(4, 8).t())

        def forward(self, x):
            return (x @ self.layers[0] + self.layers[1] + x @ self.turned) * self.scale

    model = Odd()
    return train(site, model, site.attach(model), sgd(model))


@case
def two_types_of_numbers(site):
    model = Small()
    model.first.double()
    run = lambda model, data: (model.last(torch.tanh(model.first(data[0].double())).float()) - data[1]).square().mean()
    model_weights = train(site, model, site.attach(model), sgd(model), loss=run)
    return model_weights.float()


@case
def embeddings_whose_rows_differ_by_site(site):
    model = nn.Sequential(fixed(nn.Embedding(12, 4)))
    run = lambda model, data: model((data[0].abs() * 3).long().clamp(max=11)).square().mean()
    return train(site, model, site.attach(model), sgd(model), loss=run)


@case
def batch_norm_with_one_site_each(site):
    """Ghost batches: each site norms its own, as each half does alone."""
    model = nn.Sequential(Small(), nn.BatchNorm1d(4))
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        x, y = site.batch(step)
        sum((model(a) - b).square().mean() for a, b in zip(x.split(6), y.split(6))).div(len(x) // 6).backward()
        sync.wait()
        optimizer.step()
    return weights(model)


@case
def parameters_that_one_site_does_not_use(site):
    """The gradient of who uses them, over the number of sites."""
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        for number in site.numbers:
            x, y = joint_batch(step, [number])
            hidden = torch.tanh(model.first(x)) if number == 0 else x
            with sync.no_sync() if number != site.numbers[-1] else contextlib.nullcontext():
                ((model.last(hidden) - y).square().mean() / len(site.numbers)).backward()
        sync.wait()
        optimizer.step()
    return weights(model)


# --- loops ---

@case
def accumulation(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        for micro in range(3):
            with sync.no_sync() if micro < 2 else contextlib.nullcontext():
                (loss_of(model, site.batch(10 * step + micro)) / 3).backward()
        sync.wait()
        optimizer.step()
    return weights(model)


@case
def nanogpts_flag_on_a_ddp(site):
    model = Small()
    ddp, _ = site.ddp(model)
    optimizer = sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        for micro in range(3):
            ddp.require_backward_grad_sync = micro == 2
            (loss_of(ddp, site.batch(10 * step + micro)) / 3).backward()
        nn.utils.clip_grad_norm_(ddp.parameters(), 0.5)
        optimizer.step()
    return weights(model)


@case
def backward_for_some_of_the_parameters(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, site.batch(step)).backward(inputs=list(model.last.parameters()))
        sync.wait()
        optimizer.step()
    return weights(model)


@case
def clipping_and_equal_noise(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    generator = torch.Generator().manual_seed(9)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, site.batch(step)).backward()
        sync.wait()
        nn.utils.clip_grad_norm_(model.parameters(), 0.3)
        for each in model.parameters():
            each.grad.add_(torch.randn(each.shape, generator=generator), alpha=0.01)
        optimizer.step()
    return weights(model)


@case
def autocast(site):
    model = Small()

    def run(model, data):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(data[0])
        return (out.float() - data[1]).square().mean()

    return train(site, model, site.attach(model), sgd(model), loss=run)


@case
def saved_and_loaded_in_the_middle(site):
    model = Small()
    sync, optimizer = site.attach(model), torch.optim.Adam(model.parameters(), lr=0.01)
    train(site, model, sync, optimizer)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    train(site, model, sync, optimizer)
    file.seek(0)
    saved = torch.load(file)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return train(site, model, sync, optimizer)


@case
def a_copy_by_pickle_that_goes_on_alone(site):
    model = Small()
    sync, optimizer = site.attach(model), sgd(model)
    train(site, model, sync, optimizer)
    twin = pickle.loads(pickle.dumps(model))
    loss_of(twin, joint_batch(0, range(2))).backward()
    with torch.no_grad():
        for each in twin.parameters():
            each.sub_(each.grad)
    return torch.cat([train(site, model, sync, optimizer), weights(twin)])


@case
def complex_weights(site):
    class Phases(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.complex(torch.full((8, 4), 0.1), torch.arange(32.0).view(8, 4) / 32))

        def forward(self, x):
            return (x.to(torch.complex64) @ self.weight).abs()

    model = Phases()
    return torch.view_as_real(train(site, model, site.attach(model), sgd(model))).flatten()


# --- local updates ---

@case
def local_updates_whose_every_step_is_joint(site):
    """DiLoCo each step with a plain outer step is the mean of the sites' steps, which for SGD is that of one process."""
    model = Small()
    inner = sgd(model)
    outer = None if site.is_alone else bt.LocalSGD(site.session, model, inner, sync_every=1)
    train(site, model, Alone(), inner)
    if outer is not None:
        outer.flush()
    return weights(model)


@case
def local_updates_that_accumulate_and_clip(site):
    model = Small()
    inner = sgd(model)
    outer = contextlib.nullcontext() if site.is_alone else bt.LocalSGD(site.session, model, inner, sync_every=1)
    with outer:
        for step in range(STEPS):
            inner.zero_grad()
            for micro in range(2):
                (loss_of(model, site.batch(10 * step + micro)) / 2).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1e6)
            inner.step()
    return weights(model)


class CasesTest(Case):
    TOLERANCE = {"autocast": 2e-2, "lbfgs": 1e-3}

    def setUp(self):
        torch.use_deterministic_algorithms(True)
        self.addCleanup(torch.use_deterministic_algorithms, False)

    def run_case(self, function):
        alone = function(Site(None, range(2)))
        outcomes = on_sites(lambda session, number: function(Site(session, [number])))
        self.expect_like(outcomes, alone, self.TOLERANCE.get(function.__name__, 1e-4))


for each in CASES:
    setattr(CasesTest, f"test_{each.__name__}", lambda self, each=each: self.run_case(each))


class JobsTest(Case):
    def test_two_jobs_in_a_process(self):
        def body(first, number):
            with other.join(f"n{number + 1}") as second:
                models = Small(), fixed(Small(), 5)
                syncs = [bt.attach(job, each, timeout=60) for job, each in zip((first, second), models)]
                optimizers = [sgd(each) for each in models]
                for step in range(STEPS):
                    for model, sync, optimizer in zip(models, syncs, optimizers):
                        optimizer.zero_grad()
                        loss_of(model, joint_batch(step, [number])).backward()
                        sync.wait()
                        optimizer.step()
                return torch.cat([weights(each) for each in models])

        alone = [train(Site(None, range(2)), each, Alone(), sgd(each)) for each in (Small(), fixed(Small(), 5))]
        with LocalJob(nodes=2) as other:
            self.expect_like(on_sites(body), torch.cat(alone), 1e-5)


class RefusedTest(Case):
    """What gives other numbers at each site, and is told."""

    def told(self, pattern, body):
        outcomes = on_sites(lambda session, number: body(Site(session, [number]), number))
        for outcome in outcomes:
            self.assertRegex(str(outcome), pattern)

    def test_an_optimizer_that_steps_inside_of_backward(self):
        def body(site, number):
            model = Small()
            sync = site.attach(model)
            for each in model.parameters():
                each.register_hook(lambda gradient, each=each: setattr(each, "data", each.data - 0.1 * gradient))
            train(site, model, sync, sgd(model, lr=0))

        self.told("replicas have parted by round [124]", body)

    def test_clipping_behind_torchs_back(self):
        def body(site, number):
            model = Small()
            sync, optimizer = site.attach(model), sgd(model)
            for step in range(8):
                optimizer.zero_grad()
                loss_of(model, site.batch(step)).backward()
                sync.wait()
                for each in model.parameters():
                    each.grad.data.clamp_(-0.01 * (1 + number), 0.01)
                optimizer.step()

        self.told("replicas have parted by round 2: n2 differ from n1", body)

    def test_the_usual_gan_loop(self):
        def body(site, number):
            generator, discriminator = adversaries()
            site.attach(generator, name="g")
            site.attach(discriminator, name="d")
            x, y = site.batch(0)
            discriminator(generator(x)).square().mean().backward()
            discriminator(y).mean().backward()

        self.told("a second backward.* another model's.*requires_grad_", body)

    def test_sparse_embeddings(self):
        for wrap in (lambda model: model, lambda model: DistributedDataParallel(model)):
            bt.local_group()
            self.told("sparse=True; make it with sparse=False", lambda site, number: site.attach(
                wrap(nn.Sequential(nn.Embedding(4, 2, sparse=True)))
            ))

    def test_a_permutation_at_one_site(self):
        def body(site, number):
            model = fixed(nn.Linear(8, 8, bias=False))
            sync, optimizer = site.attach(model), sgd(model)

            def permute(step):
                if number:
                    with torch.no_grad():
                        model.weight.copy_(model.weight.flip(0))

            train(site, model, sync, optimizer, loss=lambda model, data: model(data[0]).square().mean(), after=permute)

        self.told("replicas have parted by round 2", body)

    def test_a_ddp_that_has_sent_nothing(self):
        def body(site, number):
            ddp, sync = site.ddp(Small())
            with ddp.no_sync():
                loss_of(ddp, site.batch(0)).backward()
            sync.wait()

        self.told("nothing was sent since the last wait", body)

    def test_a_ddp_may_wait_as_often_as_it_likes(self):
        def body(site, number):
            ddp, sync = site.ddp(Small())
            sync.wait()
            for step in range(2):
                ddp.zero_grad()
                loss_of(ddp, site.batch(step)).backward()
                sync.wait()
                sync.wait()
            return weights(ddp)

        outcomes = on_sites(lambda session, number: body(Site(session, [number]), number))
        self.expect_like(outcomes, outcomes[0])


if __name__ == "__main__":
    unittest.main()
