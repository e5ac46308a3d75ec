"""Contains the command line tools for developers and operators. The instrumentation never imports them."""
