// The credential rules of rules.json are read from this module (generator/tools/leaks.py); no Go code is built.
module trainyard/gitleaks

go 1.24

require github.com/zricethezav/gitleaks/v8 v8.30.1
