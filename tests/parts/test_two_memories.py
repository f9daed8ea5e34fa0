"""Attention and FFN as two memories: what the view says, and what another word changes."""

from tests.parts.sheets import Drawn, drawn, words

SENTENCE = "The cat sat on the mat."


def memories(**query: str) -> Drawn:
    return drawn(
        "neurons", "writes", True, text=SENTENCE, token="3", writes_view="memories", **query
    )


def test_the_list_has_both_memories_in_the_order_of_what_they_write() -> None:
    table = memories(block="1").cells["memories"]
    lengths = [each[5] for each in table.data["rows"]]
    assert lengths == sorted(lengths, reverse=True)
    assert {each[0] for each in table.data["rows"]} == {"attention", "FFN"}
    assert all(each[1].startswith("1:") for each in table.data["rows"] if each[0] == "FFN")


def test_in_the_first_block_only_the_changed_words_key_moves() -> None:
    part = memories(block="1", changed="2", instead="dog")
    (panel,) = part.cells["keys-moved"].data["panels"]
    moved = panel["values"]
    assert panel["names"] == ["The", "cat", "sat", "on", "the", "mat", ".",
                                      "FFN: 2,048 keys"]  # fmt: skip
    assert moved[1] > 10
    assert max(*moved[:1], *moved[2:]) < 0.01
    assert "With “dog” for “cat”, the key by which attention finds “cat” moves by" in words(
        part.cells["keys-moved"]
    )
    later = memories(block="2", changed="2", instead="dog").cells["keys-moved"]
    assert later.data["panels"][0]["values"][2] > 1


def test_a_word_of_no_token_or_many_and_a_sentence_of_one() -> None:
    for word in ("", "antidisestablishmentarianism", "<b>&amp;"):
        assert "keys-moved" in memories(changed="2", instead=word).cells
    alone = drawn("neurons", "writes", text="cat", writes_view="memories")
    assert "no other word to change" in alone.said
