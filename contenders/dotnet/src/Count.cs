/// <summary>
/// A count of the runtime during the readings of a turn: its name with the unit, the value, and the
/// way of counting.
/// </summary>
internal sealed class Count
{
    internal Count(string of, long value, string how)
    {
        Of = of;
        Value = value;
        How = how;
    }

    internal string Of { get; }

    internal long Value { get; }

    internal string How { get; }
}
