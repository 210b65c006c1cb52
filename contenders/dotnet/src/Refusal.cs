using System;

/// <summary>
/// The end of a session that cannot go on: the message has the reason, in one line. It is `failed`,
/// or `unavailable` for what cannot be done here although nothing has failed.
/// </summary>
internal sealed class Refusal : Exception
{
    private readonly bool isUnavailable;

    internal Refusal(string message) : this(message, false)
    {
    }

    private Refusal(string message, bool isUnavailable) : base(message)
    {
        this.isUnavailable = isUnavailable;
    }

    /// <summary>The last message of the session.</summary>
    internal string Line => isUnavailable ? Say.Unavailable(Message) : Say.Failed(Message);

    internal static Refusal Unavailable(string message) => new Refusal(message, true);
}
