"""How much stack the deepest chain of calls takes, from what gcc writes with
-fcallgraph-info=su (one .ci file beside each object).

    stack_depth.py BUILD LIBRARY-PREFIX ENTRY-PATTERN
"""
import os
import re
import sys

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"\\]+)\\n([^"\\]*)'
                  r'(?:\\n(\d+) bytes \(([^)]*)\))?')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def read(files):
    size, calls, where = {}, {}, {}
    for path in files:
        with open(path) as file:
            for line in file:
                node = NODE.match(line)
                if node and node.group(4):
                    size[node.group(1)] = int(node.group(4))
                    where[node.group(1)] = node.group(3)
                edge = EDGE.match(line)
                if edge:
                    calls.setdefault(edge.group(1), set()).add(edge.group(2))
    return size, calls, where


def deepest(size, calls, extra):
    sys.setrecursionlimit(100000)
    memo, active = {}, []
    loops = set()
    def visit(f):
        if f in memo:
            return memo[f]
        if f in active:
            loops.add(tuple(active[active.index(f):]))
            return 0, ()
        active.append(f)
        best = (0, ())
        for callee in calls.get(f, set()) | extra.get(f, set()):
            best = max(best, visit(callee))
        active.pop()
        memo[f] = (size.get(f, 0) + best[0], (f,) + best[1])
        return memo[f]
    return {f: visit(f) for f in size}, loops
if __name__ == "__main__":
    files = [os.path.join(d, n) for top in sys.argv[2:] for d, _, ns in os.walk(top) for n in ns if n.endswith('.ci')]
    size, calls, where = read(files)
    extra = {}
    for hook in re.findall(r'(\w+)>(\w+)', sys.argv[1]):
        extra.setdefault(hook[0], set()).add(hook[1])
    res, loops = deepest(size, calls, extra)
    for f, (n, chain) in sorted(res.items(), key=lambda x: -x[1][0])[:60]:
        if re.match(r'(.*:)?sw_(MPI_|recorded|virtual)', f):
            print(n, ' > '.join(f"{c.split(':')[-1].split('/')[-1]}({size.get(c,0)})" for c in chain))
    print('loops', len(loops)); [print('  ', [c.split('/')[-1] for c in l]) for l in list(loops)[:12]]
