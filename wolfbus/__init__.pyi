from wolfbus.game.config import GameConfig as GameConfig
from wolfbus.running.forking import PlayedFork as PlayedFork
from wolfbus.running.forking import fork as fork
from wolfbus.running.lies import forks_of as forks_of
from wolfbus.running.play import PlayedGame as PlayedGame
from wolfbus.running.play import play as play
from wolfbus.running.study import PlayedStudy as PlayedStudy
from wolfbus.running.study import run_study as run_study

__version__: str
