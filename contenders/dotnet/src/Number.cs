/// <summary>
/// A number of a message with its name, which carries its unit: a parameter in force, or what a
/// reading found.
/// </summary>
internal sealed class Number
{
    internal Number(string name, long value)
    {
        Name = name;
        Value = value;
    }

    internal string Name { get; }

    internal long Value { get; }
}
