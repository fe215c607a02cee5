"""Looking at a node that runs: is it what its options ask for?

collect-node.sh   prints what there is to look at, on the node or in a debugging pod
observed          what it printed, read
inspection        it beside the plan; rules/doctor.py compares the two
"""
