"""The old name of straightway.whatif.models, for one release."""

import sys
import warnings

from straightway.whatif import models

warnings.warn("straightway.models is straightway.whatif.models now; the old "
              "name goes with the next release", DeprecationWarning,
              stacklevel=2)
sys.modules[__name__] = models
