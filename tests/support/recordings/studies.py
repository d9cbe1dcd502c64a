"""A small study, and what its simulated participants answer."""

PLAN = """\
name: speeds
participants: 12
seed: 7
common: [leader=autopilot, leader.size=0.01, leader.speed=0.1, follower=piper,
  env=kinematic, session.clock=virtual]
conditions:
  slow: [leader.speed=0.05]
  fast: [leader.speed=0.1]
tasks:
  circle: [leader.shape=circle]
before: [experience]
after_condition: [tlx, sus, ease]
after: [preference]
questionnaires:
  experience:
    points: 5
    items: {games: I play games, ar: I use augmented reality}
    scales: {games: [games], ar: [ar]}
  ease:
    items: {e1: It was easy, e2: It was effortless, e3: It was hard}
    reversed: [e3]
    scales: {ease: [e1, e2, e3]}
"""
SUS = {"slow": "5 4 2 1 2 3 2 4 5 2", "fast": "5 1 5 1 5 1 5 1 5 1"}
TLX = {"slow": "30 15 60 40 30 40", "fast": "0 5 0 5 0 5"}


def answer_all(order, k):
    """What the simulated participant ``k`` types; ease agrees with itself."""
    yield from ("3", "-") if k == 0 else ("3", "4")
    for condition in order:
        yield from TLX[condition].split()
        yield from SUS[condition].split()
        ease = 1 + (k + (condition == "fast")) % 6
        yield from (str(ease), str(ease), str(8 - ease))
    yield "1" if k < 8 else order[1]
