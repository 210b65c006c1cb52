/** A parameter of a method; the name carries its unit. */
record Param(String name, long defaultValue, long min, long max) {}
