"""Nothing leaves the machine unasked: ONNX Runtime's usage reports are switched off.

The library reads the switch while it is loaded, so this module is imported before all others.
Whoever sets the variable to something else keeps their choice.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
