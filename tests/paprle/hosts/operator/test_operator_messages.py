"""What a session says in words reaches observers whole, or the oldest gives way."""

from paprle.hosts.operator.operator_messages import NEWS_DTYPE, News, read_news
from paprle.ipc.mailbox import Mailbox


def test_the_newest_news_are_read_with_the_messages():
    box = Mailbox(NEWS_DTYPE)
    news = News(box)
    news.tell("the recorder stands still")
    news.write({"note": "press Enter — “now”\n"}, [{"path": "a.mcap"}])

    said = read_news(box.read())
    assert said["note"] == "press Enter — “now”\n"
    assert said["told"] == [[1, "the recorder stands still"]]
    assert said["episodes"] == [{"path": "a.mcap"}]


def test_nothing_is_written_twice():
    box = Mailbox(NEWS_DTYPE)
    news = News(box)
    news.write({"note": "a"}, [])
    news.write({"note": "a"}, [])

    assert box.count == 1


def test_long_news_lose_their_oldest_messages():
    box = Mailbox(NEWS_DTYPE)
    news = News(box)
    for k in range(100):
        news.tell(f"{k} " + "x" * 3000)
    news.write({"note": "kept"}, [{"path": f"{k}" * 200} for k in range(200)])

    said = read_news(box.read())
    assert said["note"] == "kept"
    assert said["told"][-1][0] == 100
