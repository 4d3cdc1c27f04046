from unisono.tune.native.cli import main

main()
