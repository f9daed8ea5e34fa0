"""All pages, in the order of the navigation, each with its parts."""

from ffnviz.parts import (
    block,
    dimensions,
    exercises,
    journey,
    lab,
    learn,
    neurons,
    sparsity,
    timing,
    vocabulary,
)
from ffnviz.parts.part import Page, Part

PAGES = (
    Page("Journey", "journey", (Part(journey.sheet, "Journey", "journey"),)),
    Page("Block", "block", block.PARTS),
    Page("Vocabulary", "vocabulary", vocabulary.PARTS),
    Page("Learn", "learn", learn.PARTS),
    Page("Exercises", "exercises", exercises.PARTS),
    Page("Sparsity", "sparsity", sparsity.PARTS),
    Page("Dimensions", "dimensions", dimensions.PARTS),
    Page("Neurons", "neurons", neurons.PARTS),
    Page("Lab", "lab", lab.PARTS),
    Page("Timing", "timing", timing.PARTS),
)
