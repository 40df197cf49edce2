"""The pages, one file each; every one exposes `async def render(page: PageContext) -> None`.

`render` builds the whole page before the answer leaves, with at most ten API queries and one page
of rows; an ApiProblem that it lets through is shown in its place, in words.
"""
