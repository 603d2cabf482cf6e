"""The asynchronous client. The synchronous one (`_sync`) is made from it: see clients/README.md."""
