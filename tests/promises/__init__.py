"""The promises to the application, each shown by a test with real SDK clients over a real socket."""
