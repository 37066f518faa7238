#!/bin/sh
# Generate the parser from ESQL.g4, and write down from what: the test of drift compares without Java.
set -eu
version=4.13.2
cd "$(dirname "$0")"
jars="${ANTLR_JARS:-$(mktemp -d)}"
[ -f "$jars/antlr4-$version-complete.jar" ] ||
    mvn --quiet dependency:copy -Dartifact="org.antlr:antlr4:$version:jar:complete" -DoutputDirectory="$jars"
java -jar "$jars/antlr4-$version-complete.jar" -Dlanguage=Python3 -no-listener -no-visitor -Werror -o generated ESQL.g4
touch generated/__init__.py
rm -f generated/*.tokens
(
    echo "antlr4 $version"
    sha256sum ESQL.g4
    cd generated
    sha256sum -- *.py *.interp
) > sums
mv sums generated/SHA256SUMS
