"""A Python process that shows a watch file, with a thread inside a call.

    python_shower.py LIBRARY OFFSET...

LIBRARY is made of shower.c. The numbers are the layout of this Python.
"""
import ctypes
import sys
import time


def inner_é(show, thread, layout):
    show(thread, layout, len(layout))
    print("ready", flush=True)
    time.sleep(1000)


def outer(*words):
    inner_é(*words)


state = ctypes.pythonapi.PyGILState_GetThisThreadState
state.restype = ctypes.c_void_p
numbers = [int(word) for word in sys.argv[2:]]
outer(ctypes.CDLL(sys.argv[1]).show_python, ctypes.c_void_p(state()),
      (ctypes.c_uint32 * len(numbers))(*numbers))
