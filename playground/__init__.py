"""A development tool: a page that plays Slack for three people of the demo organisation.

``hiatus serve --demo`` serves it. A production process never imports it, and neither do ``api``,
``bot`` and ``storage``. ``demo`` starts it; ``loopback`` is the Slack behind it, which tests share.
"""
