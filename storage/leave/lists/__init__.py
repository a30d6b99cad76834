"""Lists of leave requests, each of which stays fast in a large organisation.

``filtered_leave`` lists by filters in any order, ``visible_leave`` what a caller may see,
``caller_leave`` what is their own or assigned to them. ``access_paths`` chooses how rows are found.
"""
