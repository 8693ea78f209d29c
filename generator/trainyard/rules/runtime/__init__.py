"""Rules about runtimes: images, launchers, ranks and versions."""
