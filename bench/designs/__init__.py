"""Documents designed by hand as web pages, with their true values; printed by a browser.

Each is `NAME.html` beside `NAME.json`: `type`, `language`, `layout`, `scored` (true: never looked at while rules are
written, only its part of the total is read), `picture` (how a scanner or a phone would have taken it, or null) and
`fields`, the truth. Whoever designed them did not know the rules that read them.
"""
