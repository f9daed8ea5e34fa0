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

PAGES = (  # in the order in which they are understood
    Page("Journey", "journey", (Part(journey.sheet, "Journey", "journey", journey.SETTINGS),)),
    Page("Block", "block", block.PARTS),
    Page("Activation", "sparsity", sparsity.PARTS),
    Page("Dimensions", "dimensions", dimensions.PARTS),
    Page("Vocabulary", "vocabulary", vocabulary.PARTS),
    Page("Neurons", "neurons", neurons.PARTS),
    Page("Learn", "learn", learn.PARTS),
    Page("Exercises", "exercises", exercises.PARTS),
    Page("Lab", "lab", lab.PARTS),
    Page("Timing", "timing", timing.PARTS),
)
