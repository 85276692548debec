"""MariaDB and MySQL (InnoDB), through the MariaDB connector."""

from tare.dbms.mariadb.adapter import MariaDB

__all__ = ["MariaDB"]
