"""The names that ESQL knows without a declaration: functions, constants, element types, reserved words."""
