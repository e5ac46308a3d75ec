"""The demo: a fault-injecting provider on a loopback port, and one bad Monday morning at a support desk."""
