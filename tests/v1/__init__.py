"""The contract of `/v1`: what a program that is built on it may rely on."""
