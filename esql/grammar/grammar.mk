.PHONY: grammar
grammar: ## generate the ESQL parser from its grammar again (needs Java and Maven)
	@sh esql/grammar/generate.sh
