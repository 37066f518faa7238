/*
 * ESQL, the language of Compute, Filter and Database nodes: WMQI V2.1 to App Connect Enterprise V13.
 *
 * How to read it. A program is a list of statements; what may stand where (a SET outside a routine, a module in
 * a routine) is not grammar: esql/read says it in better words. Every part that matters has a label (target=,
 * columns+=): the reader builds syntax from labels, without a parse tree.
 *
 * Keywords. Only the words under `reserved` are reserved. The others are names wherever a name is wanted; the groups
 * below keep each decision to one token, or two, so that reading is fast:
 *   statementKeyword  starts or ends a statement, therefore is no label
 *   formKeyword       starts an expression with a form of its own, such as SUBSTRING(x FROM 1); no routine of that name
 *                     can be called in an expression
 *   literalKeyword    TRUE, FALSE, UNKNOWN, NULL: in an expression the literal
 *   operatorKeyword   AND, IN …: joins conditions, therefore is no unquoted name behind a type
 *   plainKeyword      all others
 */
grammar ESQL;

options { caseInsensitive = true; }

// ---------------------------------------------------------------------------------------------- what is read

file : head=prologue? body=statements EOF ;

prologue
    : BROKER SCHEMA schema=schemaName ';'? (PATH searched+=schemaName (',' searched+=schemaName)* ';'?)?
    | PATH searched+=schemaName (',' searched+=schemaName)* ';'?
    ;

nodeText : body=statements EOF ;                // the property of a V2.1 node

filterText : condition=expression ';'? EOF ;    // the property of a Filter node that is one condition

schemaName : parts+=identifier ('.' parts+=identifier)* ;

// ------------------------------------------------------------------------------------------------ statements

statements : items+=statement* ;

statement
    : ';'                                                                                   # emptyStatement
    | name=label ':' body=statement                                                         # labelledStatement
    | ATTACH source=path TO target=path AS placement=position ';'                                     # attachStatement
    | BEGIN (negated=NOT? atomic=ATOMIC)? body=statements END name=label? ';'               # compoundStatement
    | CALL routine=schemaName given=arguments (IN database=path)? (EXTERNAL SCHEMA schema=expression)?
        (INTO target=path)? ';'                                                             # callStatement
    | CASE operand=expression? branches+=caseStatementBranch+ (divider=ELSE otherwise=statements)? END CASE ';'
                                                                                            # caseStatement
    | COMMIT database=path? ';'                                                             # commitStatement
    | CREATE (FIELD | where=position OF) target=path clauses+=createClause* ';'             # createFieldStatement
    | CREATE kind=(FUNCTION | PROCEDURE) name=identifier '(' (parameters+=parameter (',' parameters+=parameter)*)? ')'
        clauses+=routineClause* (EXTERNAL NAME external=externalName hosts+=hostClause* ';' | body=statement)
                                                                                            # createRoutineStatement
    | CREATE kind=(COMPUTE | FILTER | DATABASE | DATABASEEVENT) MODULE name=identifier body=statements END MODULE ';'
                                                                                            # createModuleStatement
    | DECLARE names+=identifier (',' names+=identifier)* modifiers+=(SHARED | EXTERNAL | CONSTANT)*
        type_=dataType initial=expression? ';'                                               # declareStatement
    | DECLARE kind=(CONTINUE | EXIT) HANDLER FOR conditions+=handlerCondition (',' conditions+=handlerCondition)*
        body=statement                                                                      # declareHandlerStatement
    | DELETE (FIELD | where=position OF) target=path ';'                                    # deleteFieldStatement
    | DELETE FROM table=path (AS correlation=identifier)? (WHERE condition=expression)? ';' # deleteFromStatement
    | DETACH source=path ';'                                                                # detachStatement
    | EVAL '(' text=expression ')' ';'                                                      # evalStatement
    | FOR correlation=identifier AS source=expression DO body=statements END FOR name=label? ';'
                                                                                            # forStatement
    | IF condition=expression THEN body=statements branches+=elseIfBranch* (divider=ELSE otherwise=statements)? END IF ';'
                                                                                            # ifStatement
    | INSERT INTO table=path ('(' columns+=fieldName (',' columns+=fieldName)* ')')? VALUES given=arguments ';'
                                                                                            # insertStatement
    | ITERATE name=label ';'                                                                # iterateStatement
    | LEAVE name=label ';'                                                                  # leaveStatement
    | LOG (EVENT | USER trace=TRACE) flags+=(FULL | EXCEPTION)* clauses+=messageClause* ';' # logStatement
    | LOOP body=statements END LOOP name=label? ';'                                         # loopStatement
    | MOVE source=path (TO target=path | PARENT | where=position (repeat=REPEAT same+=(TYPE | NAME)* | clauses+=moveClause*)) ';'
                                                                                            # moveStatement
    | PASSTHRU '(' call=passthruArguments ')' ';'                                           # passthruOldStatement
    | PASSTHRU sql=expression (TO database=path)? (VALUES given=arguments)? ';'                   # passthruStatement
    | PROPAGATE clauses+=propagateClause* ';'                                               # propagateStatement
    | REPEAT body=statements UNTIL condition=expression END REPEAT name=label? ';'          # repeatStatement
    | RESIGNAL ';'                                                                          # resignalStatement
    | RETURN result=expression? ';'                                                         # returnStatement
    | ROLLBACK database=path? ';'                                                           # rollbackStatement
    | SET target=path attribute=(TYPE | NAMESPACE | NAME | VALUE)? '=' source=expression ';' # setStatement
    | THROW USER? EXCEPTION clauses+=messageClause* ';'                                     # throwStatement
    | UPDATE table=path (AS correlation=identifier)? SET changes+=columnChange (',' changes+=columnChange)*
        (WHERE condition=expression)? ';'                                                   # updateStatement
    | WHILE condition=expression DO body=statements END WHILE name=label? ';'               # whileStatement
    ;

position : FIRSTCHILD | LASTCHILD | PREVIOUSSIBLING | NEXTSIBLING ;

elseIfBranch : ELSEIF condition=expression THEN body=statements ;

caseStatementBranch : WHEN condition=expression THEN body=statements ;

columnChange : target=path '=' source=expression ;

// CREATE FIELD and its family: each clause once, in any order

createClause
    : AS alias=identifier
    | DOMAIN domain=expression
    | REPEAT
    | TYPE type_=expression
    | NAMESPACE (anySpace='*' | space=expression)
    | NAME name=expression
    | IDENTITY identity=relativePath
    | VALUE content=expression
    | FROM source=path
    | PARSE '(' content=expression bits=bitstreamClauses ')'
    ;

moveClause
    : TYPE type_=expression
    | NAMESPACE (anySpace='*' | space=expression)
    | NAME name=expression
    | IDENTITY identity=relativePath
    ;

messageClause
    : kind=(SEVERITY | CATALOG | MESSAGE) given=expression
    | kind=VALUES values=arguments
    ;

propagateClause
    : TO kind=(TERMINAL | LABEL) given=expression
    | kind=(ENVIRONMENT | MESSAGE | EXCEPTION) given=expression
    | kind=(FINALIZE | DELETE) choice=(DEFAULT | NONE)
    ;

handlerCondition
    : SQLSTATE (VALUE? sqlstate=STRING | LIKE pattern=STRING (ESCAPE escape=STRING)?)
    | kind=(SQLEXCEPTION | SQLWARNING)
    | NOT kind=FOUND
    ;

// -------------------------------------------------------------------------------------------------- routines

parameter : direction=(IN | OUT | INOUT)? name=identifier constant=CONSTANT? type_=dataType null=nullability? ;

nullability : nullable=NULLABLE | NOT NULL ;

routineClause
    : RETURNS result=dataType null=nullability?
    | LANGUAGE (language=(ESQL | DATABASE | JAVA | CLR) | '.' net=identifier)
    | DYNAMIC RESULT SETS sets=INTEGER_LITERAL
    ;

hostClause : kind=(ASSEMBLY | APPDOMAIN | VERSION | CULTURE | PUBLICKEYTOKEN | CLASSLOADER) given=externalName ;

externalName : STRING | dotted=schemaName ;

dataType
    : kind=(BOOLEAN | BOOL | INTEGER | INT | FLOAT | CHARACTER | CHAR | BLOB | BIT | DATE | TIME | TIMESTAMP
        | GMTTIME | GMTTIMESTAMP | ROW | NAMESPACE | NAME)
    | kind=(DECIMAL | DEC)
    | kind=INTERVAL units=intervalQualifier?
    | kind=REFERENCE to=TO?
    ;

castType
    : kind=(DECIMAL | DEC) '(' precision=INTEGER_LITERAL (',' scale=INTEGER_LITERAL)? ')'
    | plain=dataType
    ;

intervalQualifier : largest=intervalField (TO smallest=intervalField)? ;

intervalField : YEAR | MONTH | DAY | HOUR | MINUTE | SECOND ;

// ----------------------------------------------------------------------------------------------- expressions

// Conditions: a comparison binds tighter than AND, AND tighter than OR.
expression
    : inner=value                                                                           # valueExpression
    | left=expression IS negated=NOT? which=truth                                              # isCondition
    | left=expression negated=NOT? BETWEEN order=(ASYMMETRIC | SYMMETRIC)? low=value AND high=value
                                                                                            # betweenCondition
    | left=expression negated=NOT? IN '(' choices+=expression (',' choices+=expression)* ')'
                                                                                            # inCondition
    | left=expression negated=NOT? LIKE pattern=value (ESCAPE escape=value)?             # likeCondition
    | left=expression operator=('=' | '<>' | '<' | '<=' | '>' | '>=') right=expression      # comparison
    | left=expression operator=AND right=expression                                         # conjunction
    | left=expression operator=OR right=expression                                          # disjunction
    ;

truth : sign=('+' | '-')? kind=(INF | INFINITY) | kind=(NULL | TRUE | FALSE | UNKNOWN | NAN | NUM | NUMBER) ;

// Values, tightest first: NOT and signs, then * and /, then ||, then + and -.
value
    : operator=(NOT | '-' | '+') operand=value                                              # unary
    | left=value operator=('*' | '/') right=value                                           # product
    | left=value operator='||' right=value                                                  # concatenation
    | left=value operator=('+' | '-') right=value                                           # sum
    | '(' inner=expression ')' units=intervalQualifier?                                     # parenthesis
    | plain=literal                                                                               # literalValue
    | CASE operand=expression? branches+=caseBranch+ (ELSE otherwise=expression)? END       # caseValue
    | CAST '(' sources+=expression (',' sources+=expression)* AS type_=castType clauses+=castClause* ')'
                                                                                            # cast
    | EXTRACT '(' part=identifier FROM source=expression ')'                                # extract
    | POSITION '(' search=value IN source=value (FROM origin=value)? (REPEAT count=value)? ')'
                                                                                            # positionCall
    | SUBSTRING '(' source=expression preposition=(FROM | BEFORE | AFTER) origin=expression
        (FOR length=expression)? ')'                                                        # substring
    | OVERLAY '(' source=expression PLACING replacement=expression FROM origin=expression
        (FOR length=expression)? ')'                                                        # overlay
    | TRIM '(' (side=(LEADING | TRAILING | BOTH) (FROM source=expression | first=expression (FROM source=expression)?)
        | first=expression (FROM source=expression)?) ')'                                   # trim
    | ROUND '(' source=expression ',' places=expression (MODE rounding=identifier)? ')'         # round
    | ASBITSTREAM '(' source=expression bits=bitstreamClauses ')'                                 # asBitstream
    | PASSTHRU '(' call=passthruArguments ')'                                               # passthruCall
    | ROW '(' (columns+=column (',' columns+=column)*)? ')'                                 # rowConstructor
    | LIST '{' (elements+=expression (',' elements+=expression)*)? '}'                      # listConstructor
    | FOR quantifier=(ALL | ANY | SOME) source=path (AS correlation=identifier)? '(' condition=expression ')'
                                                                                            # quantified
    | SELECT (ITEM item=expression | columns+=selectColumn (',' columns+=selectColumn)*)
        FROM sources+=fromItem (',' sources+=fromItem)* (WHERE condition=expression)?       # select
    | inner=reference                                                                             # referenceValue
    ;

literal
    : kind=(INTEGER_LITERAL | HEX_LITERAL | NUMBER_LITERAL | STRING | HEX_STRING | BIT_STRING | TRUE | FALSE | UNKNOWN | NULL)
    | kind=(DATE | TIME | TIMESTAMP | GMTTIME | GMTTIMESTAMP | DECIMAL | DEC) text=STRING
    | kind=INTERVAL text=STRING units=intervalQualifier
    ;

caseBranch : WHEN condition=expression THEN result=expression ;

castClause : kind=(CCSID | ENCODING | FORMAT | DEFAULT) given=expression ;

// Of ASBITSTREAM and PARSE: keywords in any order, or (older) by position, where a position may be empty
bitstreamClauses : clauses+=bitstreamClause* | (',' positions+=optionalExpression)+ ;

bitstreamClause : kind=(OPTIONS | ENCODING | CCSID | SET | TYPE | FORMAT) given=expression ;

optionalExpression : inner=expression? ;

passthruArguments : sql=expression ((TO database=path)? (VALUES given=arguments)? | (',' values+=expression)+) ;

arguments : '(' (items+=argument (',' items+=argument)*)? ')' ;

argument : star='*' | inner=expression ;             // COUNT(*)

column : source=expression (AS name=relativePath)? ;

selectColumn : star='*' | source=expression (AS name=relativePath | insert=INSERT)? ;

fromItem : source=value (AS correlation=identifier)? ;

// ------------------------------------------------------------------------------------------ field references

// In an expression: a variable, a field, a routine's call
reference
    : head=variableName first=index? ('.' steps+=step)* called=arguments?
    | form=formKeyword first=index? ('.' steps+=step)*
    ;

path : head=identifier first=index? ('.' steps+=step)* ;

relativePath : steps+=step ('.' steps+=step)* ;

step
    : '(' types+=value (('|' | ',') types+=value)* ')' (typed=typedName? ':' right=fieldName | typed=typedName)? at=index?
    | left=fieldName (':' right=fieldName)? at=index?
    | ':' right=fieldName at=index?
    | at=index
    ;

index : '[' (end=('<' | '>') distance=value? | last=LAST | number=expression)? ']' ;

// Behind a type, an operator is an operator: x.(XML.XmlDecl) AND y
typedName : IDENTIFIER | QUOTED_IDENTIFIER | '*' | plainKeyword | statementKeyword | formKeyword | literalKeyword | ITEM
    | '{' dynamic=expression? '}' ;

fieldName : kind=(IDENTIFIER | QUOTED_IDENTIFIER | '*') | nonReserved | reserved | '{' dynamic=expression? '}' ;

// ----------------------------------------------------------------------------------------------------- names

identifier : IDENTIFIER | QUOTED_IDENTIFIER | nonReserved ;

variableName : IDENTIFIER | QUOTED_IDENTIFIER | plainKeyword | operatorKeyword | statementKeyword ;

label : IDENTIFIER | QUOTED_IDENTIFIER | plainKeyword | operatorKeyword ;

nonReserved : plainKeyword | operatorKeyword | statementKeyword | formKeyword | literalKeyword ;

reserved : ALL | ASYMMETRIC | BOTH | CASE | DISTINCT | FROM | ITEM | LEADING | NOT | SYMMETRIC | TRAILING | WHEN ;

operatorKeyword : AND | BETWEEN | IN | IS | LIKE | OR ;

literalKeyword : FALSE | NULL | TRUE | UNKNOWN ;

formKeyword
    : ASBITSTREAM | CAST | EXTRACT | FOR | OVERLAY | PASSTHRU | POSITION | ROUND | ROW | SELECT | SUBSTRING | TRIM ;

statementKeyword
    : ATTACH | BEGIN | CALL | COMMIT | CREATE | DECLARE | DELETE | DETACH | ELSE | ELSEIF | END | EVAL | IF | INSERT
    | ITERATE | LEAVE | LOG | LOOP | MOVE | PROPAGATE | REPEAT | RESIGNAL | RETURN | ROLLBACK | SET | THROW | UNTIL
    | UPDATE | WHILE ;

plainKeyword
    : AFTER | ANY | APPDOMAIN | AS | ASSEMBLY | ATOMIC | BEFORE | BIT | BLOB | BOOL | BOOLEAN | BROKER
    | CATALOG | CCSID | CHAR | CHARACTER | CLASSLOADER | CLR | COMPUTE | CONSTANT | CONTINUE | CULTURE | DATABASE
    | DATABASEEVENT | DATE | DAY | DEC | DECIMAL | DEFAULT | DO | DOMAIN | DYNAMIC | ENCODING | ENVIRONMENT | ESCAPE
    | ESQL | EVENT | EXCEPTION | EXIT | EXTERNAL | FIELD | FILTER | FINALIZE | FIRSTCHILD | FLOAT | FORMAT | FOUND
    | FULL | FUNCTION | GMTTIME | GMTTIMESTAMP | HANDLER | HOUR | IDENTITY | INF | INFINITY | INOUT | INT
    | INTEGER | INTERVAL | INTO | JAVA | LABEL | LANGUAGE | LAST | LASTCHILD | LIST | MESSAGE | MINUTE
    | MODE | MODULE | MONTH | NAME | NAMESPACE | NAN | NEXTSIBLING | NONE | NULLABLE | NUM | NUMBER | OF | OPTIONS
    | OUT | PARENT | PARSE | PATH | PLACING | PREVIOUSSIBLING | PROCEDURE | PUBLICKEYTOKEN | REFERENCE | RESULT
    | RETURNS | SCHEMA | SECOND | SETS | SEVERITY | SHARED | SOME | SQLEXCEPTION | SQLSTATE | SQLWARNING | TERMINAL
    | THEN | TIME | TIMESTAMP | TO | TRACE | TYPE | USER | VALUE | VALUES | VERSION | WHERE | YEAR ;

// ---------------------------------------------------------------------------------------------------- tokens

AFTER : 'AFTER' ;
ALL : 'ALL' ;
AND : 'AND' ;
ANY : 'ANY' ;
APPDOMAIN : 'APPDOMAIN' ;
AS : 'AS' ;
ASBITSTREAM : 'ASBITSTREAM' ;
ASSEMBLY : 'ASSEMBLY' ;
ASYMMETRIC : 'ASYMMETRIC' ;
ATOMIC : 'ATOMIC' ;
ATTACH : 'ATTACH' ;
BEFORE : 'BEFORE' ;
BEGIN : 'BEGIN' ;
BETWEEN : 'BETWEEN' ;
BIT : 'BIT' ;
BLOB : 'BLOB' ;
BOOL : 'BOOL' ;
BOOLEAN : 'BOOLEAN' ;
BOTH : 'BOTH' ;
BROKER : 'BROKER' ;
CALL : 'CALL' ;
CASE : 'CASE' ;
CAST : 'CAST' ;
CATALOG : 'CATALOG' ;
CCSID : 'CCSID' ;
CHAR : 'CHAR' ;
CHARACTER : 'CHARACTER' ;
CLASSLOADER : 'CLASSLOADER' ;
CLR : 'CLR' ;
COMMIT : 'COMMIT' ;
COMPUTE : 'COMPUTE' ;
CONSTANT : 'CONSTANT' ;
CONTINUE : 'CONTINUE' ;
CREATE : 'CREATE' ;
CULTURE : 'CULTURE' ;
DATABASE : 'DATABASE' ;
DATABASEEVENT : 'DATABASEEVENT' ;
DATE : 'DATE' ;
DAY : 'DAY' ;
DEC : 'DEC' ;
DECIMAL : 'DECIMAL' ;
DECLARE : 'DECLARE' ;
DEFAULT : 'DEFAULT' ;
DELETE : 'DELETE' ;
DETACH : 'DETACH' ;
DISTINCT : 'DISTINCT' ;
DO : 'DO' ;
DOMAIN : 'DOMAIN' ;
DYNAMIC : 'DYNAMIC' ;
ELSE : 'ELSE' ;
ELSEIF : 'ELSEIF' ;
ENCODING : 'ENCODING' ;
END : 'END' ;
ENVIRONMENT : 'ENVIRONMENT' ;
ESCAPE : 'ESCAPE' ;
ESQL : 'ESQL' ;
EVAL : 'EVAL' ;
EVENT : 'EVENT' ;
EXCEPTION : 'EXCEPTION' ;
EXIT : 'EXIT' ;
EXTERNAL : 'EXTERNAL' ;
EXTRACT : 'EXTRACT' ;
FALSE : 'FALSE' ;
FIELD : 'FIELD' ;
FILTER : 'FILTER' ;
FINALIZE : 'FINALIZE' ;
FIRSTCHILD : 'FIRSTCHILD' ;
FLOAT : 'FLOAT' ;
FOR : 'FOR' ;
FORMAT : 'FORMAT' ;
FOUND : 'FOUND' ;
FROM : 'FROM' ;
FULL : 'FULL' ;
FUNCTION : 'FUNCTION' ;
GMTTIME : 'GMTTIME' ;
GMTTIMESTAMP : 'GMTTIMESTAMP' ;
HANDLER : 'HANDLER' ;
HOUR : 'HOUR' ;
IDENTITY : 'IDENTITY' ;
IF : 'IF' ;
IN : 'IN' ;
INF : 'INF' ;
INFINITY : 'INFINITY' ;
INOUT : 'INOUT' ;
INSERT : 'INSERT' ;
INT : 'INT' ;
INTEGER : 'INTEGER' ;
INTERVAL : 'INTERVAL' ;
INTO : 'INTO' ;
IS : 'IS' ;
ITEM : 'ITEM' ;
ITERATE : 'ITERATE' ;
JAVA : 'JAVA' ;
LABEL : 'LABEL' ;
LANGUAGE : 'LANGUAGE' ;
LAST : 'LAST' ;
LASTCHILD : 'LASTCHILD' ;
LEADING : 'LEADING' ;
LEAVE : 'LEAVE' ;
LIKE : 'LIKE' ;
LIST : 'LIST' ;
LOG : 'LOG' ;
LOOP : 'LOOP' ;
MESSAGE : 'MESSAGE' ;
MINUTE : 'MINUTE' ;
MODE : 'MODE' ;
MODULE : 'MODULE' ;
MONTH : 'MONTH' ;
MOVE : 'MOVE' ;
NAME : 'NAME' ;
NAMESPACE : 'NAMESPACE' ;
NAN : 'NAN' ;
NEXTSIBLING : 'NEXTSIBLING' ;
NONE : 'NONE' ;
NOT : 'NOT' ;
NULL : 'NULL' ;
NULLABLE : 'NULLABLE' ;
NUM : 'NUM' ;
NUMBER : 'NUMBER' ;
OF : 'OF' ;
OPTIONS : 'OPTIONS' ;
OR : 'OR' ;
OUT : 'OUT' ;
OVERLAY : 'OVERLAY' ;
PARENT : 'PARENT' ;
PARSE : 'PARSE' ;
PASSTHRU : 'PASSTHRU' ;
PATH : 'PATH' ;
PLACING : 'PLACING' ;
POSITION : 'POSITION' ;
PREVIOUSSIBLING : 'PREVIOUSSIBLING' ;
PROCEDURE : 'PROCEDURE' ;
PROPAGATE : 'PROPAGATE' ;
PUBLICKEYTOKEN : 'PUBLICKEYTOKEN' ;
REFERENCE : 'REFERENCE' ;
REPEAT : 'REPEAT' ;
RESIGNAL : 'RESIGNAL' ;
RESULT : 'RESULT' ;
RETURN : 'RETURN' ;
RETURNS : 'RETURNS' ;
ROLLBACK : 'ROLLBACK' ;
ROUND : 'ROUND' ;
ROW : 'ROW' ;
SCHEMA : 'SCHEMA' ;
SECOND : 'SECOND' ;
SELECT : 'SELECT' ;
SET : 'SET' ;
SETS : 'SETS' ;
SEVERITY : 'SEVERITY' ;
SHARED : 'SHARED' ;
SOME : 'SOME' ;
SQLEXCEPTION : 'SQLEXCEPTION' ;
SQLSTATE : 'SQLSTATE' ;
SQLWARNING : 'SQLWARNING' ;
SUBSTRING : 'SUBSTRING' ;
SYMMETRIC : 'SYMMETRIC' ;
TERMINAL : 'TERMINAL' ;
THEN : 'THEN' ;
THROW : 'THROW' ;
TIME : 'TIME' ;
TIMESTAMP : 'TIMESTAMP' ;
TO : 'TO' ;
TRACE : 'TRACE' ;
TRAILING : 'TRAILING' ;
TRIM : 'TRIM' ;
TRUE : 'TRUE' ;
TYPE : 'TYPE' ;
UNKNOWN : 'UNKNOWN' ;
UNTIL : 'UNTIL' ;
UPDATE : 'UPDATE' ;
USER : 'USER' ;
VALUE : 'VALUE' ;
VALUES : 'VALUES' ;
VERSION : 'VERSION' ;
WHEN : 'WHEN' ;
WHERE : 'WHERE' ;
WHILE : 'WHILE' ;
YEAR : 'YEAR' ;

CONCATENATE : '||' ;
NOT_EQUAL : '<>' ;
LESS_OR_EQUAL : '<=' ;
GREATER_OR_EQUAL : '>=' ;
LESS : '<' ;
GREATER : '>' ;
EQUAL : '=' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
BAR : '|' ;
DOT : '.' ;
COMMA : ',' ;
COLON : ':' ;
SEMICOLON : ';' ;
OPEN : '(' ;
CLOSE : ')' ;
OPEN_INDEX : '[' ;
CLOSE_INDEX : ']' ;
OPEN_BRACE : '{' ;
CLOSE_BRACE : '}' ;

HEX_LITERAL : '0X' [0-9A-F]+ ;
NUMBER_LITERAL : ([0-9]+ '.' [0-9]* | '.' [0-9]+) ('E' [+-]? [0-9]+)? | [0-9]+ 'E' [+-]? [0-9]+ ;
INTEGER_LITERAL : [0-9]+ ;
HEX_STRING : 'X' STRING ;
BIT_STRING : 'B' STRING ;
STRING : '\'' (~'\'' | '\'\'')* '\'' ;
QUOTED_IDENTIFIER : '"' (~'"' | '""')* '"' ;
IDENTIFIER : [\p{L}_] [\p{L}\p{Nd}_]* ;

// The marks of an executable comment are blank space: what stands between them is part of the program.
EXECUTABLE_MARK : ('/*!{' | '}!*/') -> channel(HIDDEN) ;
// Comments nest. That is not grammar: the reader takes away the marks within a comment first (esql/read/comments.py).
BLOCK_COMMENT : '/*' (~[!*] TO_END | STARS_TO_END | '!' (~[{*] TO_END | STARS_TO_END)) -> channel(HIDDEN) ;
fragment TO_END : (~'*' | '*'+ ~[*/])* '*'+ '/' ;
fragment STARS_TO_END : '*'+ ('/' | ~[*/] TO_END) ;
LINE_COMMENT : '--' ~[\r\n]* -> channel(HIDDEN) ;
SPACE : [ \t\r\n\f\u00A0\u2028\u2029\uFEFF\u001A]+ -> skip ;

// What cannot be part of a program is a token too: the reader says where it starts.
OPEN_STRING : '\'' (~'\'' | '\'\'')* ;
OPEN_IDENTIFIER : '"' (~'"' | '""')* ;
OPEN_COMMENT : '/*' ((~[!*] | '!' ~[{*] | '!'? '*'+ ~[*/]) (~'*' | '*'+ ~[*/])*)? '*'* ;
ILLEGAL : . ;
