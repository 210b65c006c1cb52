/// <summary>
/// A parameter of a method, with its default and its range; the name carries its unit. The value in
/// force is in the <see cref="Request"/>.
/// </summary>
internal sealed class Param
{
    internal Param(string name, long defaultValue, long min, long max)
    {
        Name = name;
        Default = defaultValue;
        Min = min;
        Max = max;
    }

    internal string Name { get; }

    internal long Default { get; }

    internal long Min { get; }

    internal long Max { get; }
}
