from fixtures import *  # noqa: F401,F403
