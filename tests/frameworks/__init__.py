"""Agent frameworks over the real SDKs and a provider on a loopback port: what is counted, once, through all layers."""
