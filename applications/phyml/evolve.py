"""Prints the genes of species that evolve from one, in PHYLIP's form."""
import random

SITES, SPLITS, CHANGE = 400, 4, 0.08

chance = random.Random(5)


def child(gene):
    return "".join(chance.choice("ACGT") if chance.random() < CHANGE else base
                   for base in gene)


genes = ["".join(chance.choice("ACGT") for _ in range(SITES))]
for _ in range(SPLITS):
    genes = [child(gene) for gene in genes for _ in range(2)]
print(len(genes), SITES)
for number, gene in enumerate(genes):
    print(f"species{number:<4}", gene)
