"""The GPU benchmark's parts: work items by family of operations, their contenders, timing, records,
table and plots.
"""
